import PostgreSQL
import Storage

/// The database as the parts of the control store use it: rows by the names of their columns, and errors as the contract has them.
struct PostgresControlDatabase: Sendable {
    let client: PostgresClient

    /// Runs statements that only read; each sees what is committed then.
    func read<Value: Sendable>(
        _ what: StaticString, _ body: (ControlReading) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await body(ControlReading(client: client))
        } catch {
            throw Self.failure(error, "\(what) could not be read")
        }
    }

    /// Reads one state, however many statements that takes.
    func snapshot<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (ControlTransaction) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await client.withSnapshot { try await body(ControlTransaction(transaction: $0)) }
        } catch {
            throw Self.failure(error, "\(what) could not be read")
        }
    }

    /// Reads and then writes in one transaction, which is repeated if it stands in the way of another one.
    func change<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (ControlTransaction) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await client.withTransaction { try await body(ControlTransaction(transaction: $0)) }
        } catch {
            throw Self.failure(error, "\(what) could not be written")
        }
    }

    /// One statement that changes something, in one round trip.
    ///
    /// - Returns: how many rows it has changed.
    @discardableResult
    func run(
        _ what: StaticString, _ sql: String, _ arguments: any ControlArgument...
    ) async throws(StoreError) -> Int {
        var pipeline = PostgresPipeline()
        pipeline.add(sql, PostgresValue.list(arguments))
        do {
            return try await client.run(pipeline, .write())[0].affected
        } catch {
            throw Self.failure(error, "\(what) could not be written")
        }
    }

    static func failure(_ error: any Error, _ message: String) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as PostgresError: StoreError(error, message)
        case is DecodingError: StoreError(.corrupt, "\(message): what is stored does not have the expected form")
        case is CancellationError: StoreError(.unavailable, "\(message): cancelled")
        default: StoreError(.unavailable, message, underlying: error)
        }
    }
}

/// Statements that return rows.
protocol ControlQueries: Sendable {
    func answer(_ sql: String, _ values: [PostgresValue]) async throws -> PostgresRows
}

extension ControlQueries {
    func rows(_ sql: String, _ arguments: any ControlArgument...) async throws -> [ControlRow] {
        ControlRow.list(try await answer(sql, PostgresValue.list(arguments)))
    }
}

/// Statements apart from any transaction.
struct ControlReading: ControlQueries {
    let client: PostgresClient

    func answer(_ sql: String, _ values: [PostgresValue]) async throws -> PostgresRows {
        var pipeline = PostgresPipeline()
        pipeline.add(sql, values)
        return try await client.run(pipeline, .reads)[0]
    }
}

/// Statements of one transaction.
struct ControlTransaction: ControlQueries {
    /// A row of `locks`: what has no row of its own that could be locked.
    enum Lock: String {
        case adminTokens = "admin_tokens"
        case campaigns
        case signingKeys = "signing_keys"
    }

    let transaction: PostgresTransaction

    func answer(_ sql: String, _ values: [PostgresValue]) async throws -> PostgresRows {
        var pipeline = PostgresPipeline()
        pipeline.add(sql, values)
        return try await transaction.run(pipeline)[0]
    }

    /// - Returns: how many rows the statement has changed.
    @discardableResult
    func run(_ sql: String, _ arguments: any ControlArgument...) async throws -> Int {
        try await run(sql, arguments: arguments)
    }

    @discardableResult
    func run(_ sql: String, arguments: [any ControlArgument]) async throws -> Int {
        try await answer(sql, PostgresValue.list(arguments)).affected
    }

    /// Waits until no other transaction has the lock; it is kept until this one ends.
    func lock(_ lock: Lock) async throws {
        _ = try await rows("SELECT 1 FROM locks WHERE name = $1 FOR UPDATE", lock.rawValue)
    }
}
