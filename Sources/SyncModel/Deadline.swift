/// Work had not ended when the time for all of it was over.
package struct DeadlinePassed: Error, Sendable, Equatable, CustomStringConvertible {
    package let patience: Duration

    package var description: String { "no whole answer within \(patience)" }
}

/// Runs `work` for so long at most, and cancels it then.
///
/// An HTTP client's own time-out ends with the head of an answer or begins anew with each byte of its body: a server that drips would
/// be waited for without end.
/// - Throws: `DeadlinePassed`, or what `work` throws.
package func withDeadline<Answer: Sendable>(
    _ patience: Duration, _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
    try await withThrowingTaskGroup(of: Answer.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: patience)
            throw DeadlinePassed(patience: patience)
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw DeadlinePassed(patience: patience) }
        return first
    }
}
