/// A partition's file of an app that has moved to flexible sync: it syncs in flexible mode what was its partition, though its
/// configuration still names the partition.
struct ModeMove: Sendable, Equatable, Codable {
    /// A client reset that brings the file to its new mode, until it is merged.
    struct Pending: Sendable, Equatable, Codable {
        /// `migrateToFLX` or `revertToPBS`.
        var action: PendingReset.Action
        var errorCode: Int
        var message: String
    }

    /// The partition as a partition BIND names it.
    var partition: String
    /// What selects the partition's objects, of any class that has the property.
    var query: String
    var pending: Pending?

    /// The property that says which partition an object is of.
    var field: String { String(query.prefix { $0 != " " }) }
}

extension SyncFileState {
    /// What the file syncs.
    ///
    /// - Parameter configured: as its configuration says.
    func target(_ configured: SyncTarget) -> SyncTarget {
        guard let move, move.pending?.action != .revertToPBS else { return configured }
        return .flexible
    }
}
