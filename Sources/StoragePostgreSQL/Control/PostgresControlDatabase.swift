import PostgreSQL
import Storage

/// The database as the parts of the control store use it: rows by the names of their columns, and errors as the contract has them.
struct PostgresControlDatabase: Sendable {
    /// How long to wait for a database that is known to be away: behind these statements somebody waits for an answer.
    static let hurry = Duration.milliseconds(500)
    /// How long the answer to a single read may take, which goes by an index and takes milliseconds: a database that hangs does not
    /// refuse connections.
    static let patience = Duration.seconds(5)

    let client: PostgresClient

    /// Runs statements that only read; each sees what is committed then.
    func read<Value: Sendable>(
        _ what: StaticString, _ body: (ControlReading) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await body(ControlReading(client: client))
        } catch {
            throw StoreError(any: error, "\(what) could not be read")
        }
    }

    /// Reads one state, however many statements that takes.
    func snapshot<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (ControlTransaction) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await client.withSnapshot(hurry: Self.hurry) {
                try await body(ControlTransaction(transaction: $0))
            }
        } catch {
            throw StoreError(any: error, "\(what) could not be read")
        }
    }

    /// Reads and then writes in one transaction, which is repeated if it stands in the way of another one.
    func change<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (ControlTransaction) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await client.withTransaction(hurry: Self.hurry) {
                try await body(ControlTransaction(transaction: $0))
            }
        } catch {
            throw StoreError(any: error, "\(what) could not be written")
        }
    }

    /// One statement that changes something, in one round trip.
    ///
    /// - Returns: how many rows it has changed.
    @discardableResult
    func run(
        _ what: StaticString, _ sql: String, _ arguments: any ControlArgument...
    ) async throws(StoreError) -> Int {
        try await run(what, sql, arguments: arguments)
    }

    @discardableResult
    func run(
        _ what: StaticString, _ sql: String, arguments: [any ControlArgument]
    ) async throws(StoreError) -> Int {
        do {
            let pipeline = PostgresPipeline(sql, PostgresValue.list(arguments))
            return try await client.run(pipeline, .write(), hurry: Self.hurry)[0].affected
        } catch {
            throw StoreError(any: error, "\(what) could not be written")
        }
    }
}

/// Statements that return rows.
protocol ControlQueries: Sendable {
    func answer(_ sql: String, _ values: [PostgresValue]) async throws -> PostgresRows
}

extension ControlQueries {
    func rows(_ sql: String, _ arguments: any ControlArgument...) async throws -> [any ControlRow] {
        PostgresControlRow.list(try await answer(sql, PostgresValue.list(arguments)))
    }
}

/// Statements apart from any transaction.
struct ControlReading: ControlQueries {
    let client: PostgresClient

    func answer(_ sql: String, _ values: [PostgresValue]) async throws -> PostgresRows {
        try await client.run(
            PostgresPipeline(sql, values), .reads, hurry: PostgresControlDatabase.hurry,
            within: PostgresControlDatabase.patience)[0]
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
        try await transaction.run(PostgresPipeline(sql, values))[0]
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
