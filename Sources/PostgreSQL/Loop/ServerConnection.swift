import CPostgreSQL
import Loops

/// A connection to the server as the client's thread sees it: one request at a time, sent as a pipeline.
final class ServerConnection {
    /// What the server answers next.
    private enum Expected {
        /// A statement was prepared.
        case prepared(PostgresPipeline.Statement.Key)
        /// The result of one of the caller's statements; nil for the transaction's beginning and end.
        case result(Int?)
        /// The end: the whole pipeline was answered.
        case end
    }

    /// So many statements stay prepared; others are sent with their text each time.
    private static let maxPrepared = 500
    /// The longest time for which a statement's plan is kept. A server plans for tables as they are, and would keep what suits an empty one
    /// until it happens to renew its statistics. Plans of a new connection are kept for a second, then for ever longer.
    private static let longestPlanning = Duration.seconds(60)

    private let connection: OpaquePointer
    private var prepared: [PostgresPipeline.Statement.Key: String] = [:]
    private var names = 0
    private var planning = Duration.seconds(1)
    private var planAt: Monotonic
    private var expected: [Expected] = []
    private var position = 0
    private var sawResult = false
    private var results: [PostgresRows?] = []
    private var failure: PostgresError?

    /// What is under way.
    private(set) var request: Request?
    /// When its answer must have come.
    private(set) var deadline = Monotonic.never
    /// The lease of the caller that has the connection for itself; nil if none has.
    var lease: UInt64?
    /// Something waits to be written until the socket takes it.
    private(set) var wantsWrite = false

    init(_ connection: OpaquePointer, at now: Monotonic) {
        self.connection = connection
        planAt = now.advanced(by: planning)
    }

    deinit { PQfinish(connection) }

    var descriptor: Int32 { PQsocket(connection) }
    var isIdle: Bool { request == nil && lease == nil }

    /// A transaction that nobody has ended is open on it.
    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    /// Forgets which statements are prepared, if that is due. The server then has to forget them, too.
    /// - Returns: whether it has.
    func forgetsPlans(at now: Monotonic) -> Bool {
        guard planAt <= now else { return false }
        planning = min(planning * 2, Self.longestPlanning)
        planAt = now.advanced(by: planning)
        guard !prepared.isEmpty else { return false }
        prepared.removeAll(keepingCapacity: true)
        return true
    }

    // MARK: Sending

    func send(_ request: Request, deadline: Monotonic) throws(PostgresError) {
        self.request = request
        self.deadline = deadline
        results = Array(repeating: nil, count: request.statements.count)
        expected.removeAll(keepingCapacity: true)
        position = 0
        sawResult = false
        failure = nil
        if let begin = request.begin { try send(PostgresPipeline.Statement(begin), at: nil) }
        for (index, statement) in request.statements.enumerated() { try send(statement, at: index) }
        if let end = request.end { try send(PostgresPipeline.Statement(end), at: nil) }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        expected.append(.end)
        try flush()
    }

    private func send(_ statement: PostgresPipeline.Statement, at index: Int?) throws(PostgresError) {
        var name = prepared[statement.key]
        if name == nil, prepared.count < Self.maxPrepared, statement.key.sql != Request.deallocate {
            names += 1
            let new = "s\(names)"
            guard
                PQsendPrepare(
                    connection, new, statement.key.sql, Int32(statement.key.types.count), statement.key.types) == 1
            else { throw lost() }
            expected.append(.prepared(statement.key))
            prepared[statement.key] = new
            name = new
        }
        let count = Int32(statement.ranges.count)
        let sent = statement.bytes.withUnsafeBytes { bytes in
            let values = statement.ranges.map { range in
                range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = statement.ranges.map { Int32(clamping: $0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: statement.ranges.count)
            if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) }
            return PQsendQueryParams(
                connection, statement.key.sql, count, statement.key.types, values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        expected.append(.result(index))
    }

    /// Writes what the socket takes.
    func flush() throws(PostgresError) {
        let left = PQflush(connection)
        guard left >= 0 else { throw lost() }
        wantsWrite = left > 0
    }

    // MARK: Receiving

    /// Reads what has come.
    ///
    /// - Returns: the answer to the request under way, once all of it is there.
    func receive() throws(PostgresError) -> Request.Answer? {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
        if wantsWrite { try flush() }
        while request != nil, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                // Between two statements; twice in a row means that libpq has nothing more, though the answer is not complete.
                guard sawResult else { throw lost() }
                sawResult = false
                position += 1
                continue
            }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                return finish()
            }
            sawResult = true
            take(result, status)
            guard PQstatus(connection) == CONNECTION_OK else { throw failure ?? lost() }
        }
        // Nothing is asked: what comes is a notice, or the end.
        guard PQstatus(connection) == CONNECTION_OK else { throw lost() }
        return nil
    }

    private func take(_ result: OpaquePointer, _ status: ExecStatusType) {
        guard position < expected.count else { return PQclear(result) }
        let succeeded = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY
        switch expected[position] {
        case .result(let index?) where succeeded: results[index] = PostgresRows(result)
        case .prepared(let key) where !succeeded:
            prepared[key] = nil
            note(result, status, statement: index(after: position))
        case .result(let index) where !succeeded: note(result, status, statement: index)
        default: PQclear(result)
        }
    }

    /// Keeps the first error, whose consequences the others are.
    private func note(_ result: OpaquePointer, _ status: ExecStatusType, statement: Int?) {
        if failure == nil, status != PGRES_PIPELINE_ABORTED {
            failure = PostgresError(serverResult: result, statement: statement)
        }
        PQclear(result)
    }

    private func index(after position: Int) -> Int? {
        guard position + 1 < expected.count, case .result(let index) = expected[position + 1] else { return nil }
        return index
    }

    private func finish() -> Request.Answer {
        request = nil
        deadline = .never
        if let failure { return .failure(failure) }
        let complete = results.compactMap(\.self)
        results = []
        guard complete.count == expected.count(where: { if case .result(.some) = $0 { true } else { false } }) else {
            return .failure(PostgresError(.other, "the server has answered less than it was asked"))
        }
        return .success(PostgresAnswer(results: complete))
    }

    private func lost() -> PostgresError {
        let words = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let line = words.split(whereSeparator: \.isNewline).first.map(String.init)
        return failure ?? PostgresError(.lost, line ?? "the connection was lost")
    }
}
