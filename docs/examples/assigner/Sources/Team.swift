import DeviceSync

/// Who may be given tasks.
struct Team: Sendable {
    private let members: [String]

    /// - Parameter members: at least one; their order does not matter.
    init(_ members: [String]) { self.members = members.sorted() }

    /// Who is to do a task: the same member whoever asks, and whenever. Two programs that meet one task at once, or one that was
    /// killed and does not know how far it had come, so give one answer.
    func member(for id: ObjectId) -> String {
        // The last digits count up; the first ones are the time.
        let number = UInt64(id.stringValue.suffix(8), radix: 16) ?? 0
        return members[Int(number % UInt64(members.count))]
    }
}
