import Synchronization

/// A transaction whose statements are only known one after the other. It has a connection of its own.
package final class PostgresTransaction: Sendable {
    private enum Phase { case new, begun, ended, failed }

    private let client: PostgresClient
    private let lease: UInt64
    private let begin: String
    private let phase = Mutex(Phase.new)

    init(_ client: PostgresClient, lease: UInt64, begin: String) {
        self.client = client
        self.lease = lease
        self.begin = begin
    }

    /// Sends statements and waits for the answers: one round trip, which the first takes to begin the transaction, too.
    package func run(_ pipeline: PostgresPipeline) async throws(PostgresError) -> PostgresAnswer {
        try await run(pipeline, end: nil)
    }

    /// Sends the last statements and commits, in one round trip.
    package func commit(_ pipeline: PostgresPipeline) async throws(PostgresError) -> PostgresAnswer {
        try await run(pipeline, end: Request.commit)
    }

    /// Runs one statement.
    @discardableResult package func query(
        _ sql: String, _ values: PostgresValue...
    ) async throws(PostgresError) -> PostgresRows {
        try await run(PostgresPipeline(sql, values))[0]
    }

    /// Commits what was not committed yet.
    func end() async throws(PostgresError) {
        let phase = phase.withLock { $0 }
        guard phase != .failed else {
            throw PostgresError(.other, "a statement of the transaction has failed, so all of it was rolled back")
        }
        guard phase == .begun else { return }
        _ = try await run(PostgresPipeline(), end: Request.commit)
    }

    private func run(_ pipeline: PostgresPipeline, end: String?) async throws(PostgresError) -> PostgresAnswer {
        let before = phase.withLock { phase in
            defer { if phase != .failed { phase = end == nil ? .begun : .ended } }
            return phase
        }
        guard before == .new || before == .begun else {
            throw PostgresError(.other, "the transaction has \(before == .ended ? "ended" : "failed") before")
        }
        do throws(PostgresError) {
            return try await client.submit(pipeline, begin: before == .new ? begin : nil, end: end, lease: lease).get()
        } catch {
            phase.withLock { $0 = .failed }
            throw error
        }
    }
}
