package import PostgreSQL
package import Storage

/// The control store in PostgreSQL, for the processes of many machines.
package enum PostgresControlStore {
    /// Opens the control store. Makes its tables where there are none, if it may; older ones wait for the operator.
    ///
    /// - Throws: `notFound`, `mismatch`, `denied`, each with what to do.
    package static func open(_ client: PostgresClient) async throws(StoreError) -> any ControlStore {
        let schema = PostgresControlSchema.schema
        if try await schema.level(client)?.steps ?? 0 == 0 { try await schema.migrate(client) }
        try await schema.require(client)
        return PostgresControlTables(database: PostgresControlDatabase(client: client))
    }
}

/// The control store's tables.
///
/// Where a change depends on what it reads, it locks the rows that it goes by, or a row of `locks` where there is none yet to be
/// locked; uniqueness is the tables'. So two processes never decide on the same state.
///
/// What takes more than one statement, or one of PostgreSQL's own, is written in parts, one for each thing that is kept.
struct PostgresControlTables: SQLControlStore, PostgresClusterStore, PostgresAppStore, PostgresAccountStore,
    PostgresAdminStore, PostgresCampaignStore, PostgresDeletionStore
{
    let database: PostgresControlDatabase

    func records<Value: Sendable>(
        _ what: StaticString, _ sql: String, _ arguments: [ControlValue],
        as value: @escaping @Sendable (any ControlRow) throws -> Value
    ) async throws(StoreError) -> [Value] {
        try await database.read(what) { queries in
            try PostgresControlRow.list(await queries.answer(sql, PostgresValue.list(arguments))).map(value)
        }
    }

    @discardableResult
    func run(_ what: StaticString, _ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> Int {
        try await database.run(what, sql, arguments: arguments)
    }
}

/// A part of the control store.
protocol PostgresControlPart: Sendable {
    var database: PostgresControlDatabase { get }
}
