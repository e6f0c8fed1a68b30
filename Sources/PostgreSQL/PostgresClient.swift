package import Logging
import Loops

/// A client of a PostgreSQL server, or of several of which one takes writes: a few connections, served by a thread of their own, so
/// that no thread of the cooperative pool ever waits for the network.
///
/// What costs is a round trip: a pipeline is one, whatever it holds. A connection that is lost is made again; the client goes from
/// host to host as libpq does (`target_session_attrs`). A task that is cancelled gets no connection any more, but what was sent is
/// waited for: its outcome counts.
package final class PostgresClient: Sendable {
    private let link: PoolLink
    private let obstacles: ObstacleWatch?

    /// How often a transaction is tried while others stand in its way.
    private static let attempts = 8

    /// Connects when it is first used.
    package init(_ configuration: PostgresConfiguration, logger: Logger) {
        link = PoolLink(configuration, logger)
        obstacles = configuration.namesObstacles ? ObstacleWatch(configuration) : nil
    }

    deinit { _ = link.inbox.push(.stop(nil)) }

    package var configuration: PostgresConfiguration { link.configuration }
    package var statistics: PostgresStatistics { link.counted }

    /// Ends the connections; what is under way fails.
    package func close() async {
        await withCheckedContinuation { continuation in
            if !link.inbox.push(.stop(continuation)) { continuation.resume() }
        }
    }

    /// Sends all statements of a pipeline, and waits for the answers: one round trip.
    ///
    /// Transactions that others stand in the way of are repeated some times, and so are reads whose connection is lost.
    ///
    /// - Parameters:
    ///   - hurry: how long it waits for a connection while the server is known to be away; nil: as long as ever.
    ///   - limit: how long the answer may take where somebody waits for it; nil: as long as the configuration says. A server that hangs
    ///     refuses nobody, and would be waited for as long as the longest statement may take.
    package func run(
        _ pipeline: PostgresPipeline, _ mode: PostgresMode = .reads, hurry: Duration? = nil,
        within limit: Duration? = nil
    ) async throws(PostgresError) -> PostgresAnswer {
        var attempt = 1
        while true {
            do throws(PostgresError) {
                return try await submit(
                    pipeline, begin: mode.begin, end: mode.begin == nil ? nil : Request.commit,
                    isRepeatable: !mode.isWrite, hurry: hurry, within: limit
                ).get()
            } catch {
                guard error.kind == .conflict, attempt < Self.attempts else { throw error }
                try await pause(afterConflict: attempt)
                attempt += 1
            }
        }
    }

    /// Runs statements that are only known one after the other as one transaction, on a connection that nobody else has meanwhile.
    ///
    /// The transaction is committed when `body` returns, unless `PostgresTransaction.commit` has done so; it is rolled back when
    /// `body` throws. `body` runs again when another transaction stood in the way: it must change nothing but the database.
    ///
    /// - Parameter hurry: see `run`.
    package nonisolated(nonsending) func withTransaction<Value>(
        _ isolation: PostgresIsolation = .readCommitted, hurry: Duration? = nil,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await withLease(begin: isolation.sql, hurry, body)
            } catch let error as PostgresError where error.kind == .conflict && attempt < Self.attempts {
                try await pause(afterConflict: attempt)
                attempt += 1
            }
        }
    }

    /// Runs `body` with the database as it is now, whatever changes meanwhile, on a connection of its own.
    ///
    /// - Parameter hurry: see `run`.
    package nonisolated(nonsending) func withSnapshot<Value>(
        hurry: Duration? = nil, _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await withLease(begin: PostgresMode.beginSnapshot, hurry) { transaction in
            // The first statement takes the snapshot.
            try await transaction.query("SELECT 1")
            return try await body(transaction)
        }
    }

    private nonisolated(nonsending) func withLease<Value>(
        begin: String, _ hurry: Duration?, _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let id = link.makeID()
        do throws(PostgresError) { try await lease(id, hurry).get() } catch { throw await explained(error) }
        defer { _ = link.inbox.push(.release(lease: id)) }
        let transaction = PostgresTransaction(self, lease: id, begin: begin)
        let value = try await body(transaction)
        try await transaction.end()
        return value
    }

    private func lease(_ id: UInt64, _ hurry: Duration?) async -> Result<Void, PostgresError> {
        let now = Monotonic.now()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .failure(Self.cancelled)) }
                let lease = Lease(
                    id: id, patience: now.advanced(by: configuration.patience),
                    hurry: hurry.map { now.advanced(by: $0) } ?? .never, continuation: continuation)
                if !link.push(.lease(lease)) { continuation.resume(returning: .failure(Self.closed)) }
            }
        } onCancel: {
            _ = link.inbox.push(.cancel(id: id))
        }
    }

    func submit(
        _ pipeline: PostgresPipeline, begin: String?, end: String?, lease: UInt64? = nil, isRepeatable: Bool = false,
        hurry: Duration? = nil, within limit: Duration? = nil
    ) async -> Request.Answer {
        let id = link.makeID()
        let now = Monotonic.now()
        let answer: Request.Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled, lease == nil { return continuation.resume(returning: .failure(Self.cancelled)) }
                let request = Request(
                    id: id, statements: pipeline.statements, begin: begin, end: end, lease: lease,
                    isRepeatable: isRepeatable, patience: now.advanced(by: configuration.patience),
                    hurry: hurry.map { now.advanced(by: $0) } ?? .never, limit: limit, continuation: continuation)
                if !link.push(.submit(request)) { continuation.resume(returning: .failure(Self.closed)) }
            }
        } onCancel: {
            _ = link.inbox.push(.cancel(id: id))
        }
        guard case .failure(let error) = answer else { return answer }
        return .failure(await explained(error))
    }

    /// The obstacle that keeps the server from acknowledging commits, and what to do about it; nil if none is known. Asked over a connection of
    /// its own, every few seconds at most.
    package func obstacle() async -> String? { await obstacles?.find() }

    /// The error, with what the server waits for where it has not answered in time.
    private func explained(_ error: PostgresError) async -> PostgresError {
        guard error.kind == .busy || error.kind == .timeout, let obstacle = await obstacles?.find() else {
            return error
        }
        var error = error
        error.message += ": \(obstacle)"
        return error
    }

    private func pause(afterConflict attempt: Int) async throws(PostgresError) {
        link.count { $0.conflicts += 1 }
        do {
            try await Task.sleep(for: .milliseconds(Double(1 << attempt) * Double.random(in: 0.5...1.5)))
        } catch {
            throw Self.cancelled
        }
    }

    private static let cancelled = PostgresError(.cancelled, "cancelled before anything was sent")
    private static let closed = PostgresError(.closed, "the client is closed")
}

extension PostgresClient {
    /// Runs one statement that reads.
    package func query(_ sql: String, _ values: PostgresValue...) async throws(PostgresError) -> PostgresRows {
        try await run(PostgresPipeline(sql, values))[0]
    }

    /// Runs one statement that writes, as a transaction.
    @discardableResult package func execute(
        _ sql: String, _ values: PostgresValue...
    ) async throws(PostgresError) -> PostgresRows {
        try await run(PostgresPipeline(sql, values), .write())[0]
    }
}
