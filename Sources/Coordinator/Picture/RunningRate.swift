/// How fast a total grows that its process counts from 0: the differences of what was heard, also over a restart.
struct RunningRate: Sendable, Equatable {
    private var last: UInt64?
    private var grown: UInt64 = 0

    /// - Parameter total: what the process says now. A smaller one than before is that of a process which has started again.
    mutating func heard(_ total: UInt64) {
        // The first total does not count: it is not known since when it has grown.
        if let last { grown = grown.addingReportingOverflow(total >= last ? total - last : total).partialValue }
        last = total
    }

    /// What the total has grown by since the last call.
    mutating func take() -> UInt64 {
        defer { grown = 0 }
        return grown
    }
}
