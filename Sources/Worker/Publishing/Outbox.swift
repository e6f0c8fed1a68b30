/// The knowledge that an owner has of its slice's outbox.
struct Outbox {
    /// The store may hold messages that were never published, or whose arrival nobody has noted: an earlier owner's, or those
    /// of a commit before a failure.
    var mayHoldLeftovers = true
    /// The number up to which those are lined up.
    var lastRead: Int64 = 0
    /// The ids of the messages that have arrived: the next commit can remove them from the store.
    var arrived: Set<String> = []

    /// The store is to be looked at again.
    mutating func forget() {
        mayHoldLeftovers = true
        lastRead = 0
    }
}
