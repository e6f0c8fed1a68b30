/// Counts what merging takes and ends it where it has taken enough, or where nobody waits for it any more.
///
/// Counted is work and not time: the same changesets take the same number of steps everywhere and whenever. A step is the
/// cheapest thing that a merge does, two list operations shifting each other; about three nanoseconds.
package final class MergeMeter {
    /// The steps for finding a pair of instructions and letting the rules merge them.
    static let stepsPerMeeting = 24
    /// The steps for reading an instruction and looking for what it conflicts with.
    static let stepsPerInstruction = 128
    /// The steps of an operation for taking part in a list that is merged as a whole.
    static let stepsPerWhole = 384
    /// The same for each element that the list had.
    static let stepsPerElement = 16

    package private(set) var steps: UInt64
    private let limit: UInt64
    private let pause: UInt64
    private let isCancelled: () -> Bool
    private var unchecked = 0

    /// - Parameters:
    ///   - limit: how many steps may be taken.
    ///   - taken: how many of them were taken before.
    ///   - patience: after how many more the merge ends so that its caller can have it done elsewhere.
    ///   - isCancelled: whether nobody waits for the merge any more; asked now and then.
    package init(
        limit: UInt64 = .max, taken: UInt64 = 0, patience: UInt64 = .max,
        isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) {
        self.limit = limit
        steps = taken
        pause = taken.addingReportingOverflow(patience).overflow ? .max : taken + patience
        self.isCancelled = isCancelled
    }

    /// - Throws: `budgetExceeded`, `paused`, `cancelled`.
    func take(_ steps: Int) throws(MergeError) {
        self.steps &+= UInt64(steps)
        if self.steps > limit {
            throw MergeError(code: .budgetExceeded, message: "expected a merge of at most \(limit) steps")
        }
        if self.steps > pause {
            throw MergeError(code: .paused, message: "the merge takes longer than its caller waits for it here")
        }
        unchecked += steps
        guard unchecked >= 1 << 20 else { return }
        unchecked = 0
        if isCancelled() { throw MergeError(code: .cancelled, message: "nobody waits for the merge any more") }
    }
}
