import Logging
import PostgreSQL
import StoragePostgreSQL
import StorageSupport

/// Runs `body` with stores in a schema of their own, which goes afterwards.
func withPostgres(
    leases: LeaseClock = .database, _ change: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresStores, PostgresTestSchema) async throws -> Void
) async throws {
    try await withPostgresSchema { schema in
        let stores = try schema.stores(leases: leases, change)
        let result: Result<Void, any Error>
        do { result = .success(try await body(stores, schema)) } catch { result = .failure(error) }
        await stores.close()
        try result.get()
    }
}

extension PostgresTestSchema {
    /// The stores in the schema, as another process has them.
    func stores(
        leases: LeaseClock = .database, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) throws -> PostgresStores {
        var configuration = try PostgresConfiguration(url)
        change(&configuration)
        return PostgresStores(configuration, schema: name, leases: leases, logger: Logger(label: "test"))
    }
}
