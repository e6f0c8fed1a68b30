import Logging
import TestSupport

@testable import PostgreSQL

/// Runs `body` with a client whose statements find a schema of their own.
func withClient(
    _ change: (inout PostgresConfiguration) -> Void = { _ in }, _ body: (PostgresClient) async throws -> Void
) async throws {
    let schema = TestPostgres.uniqueName()
    var configuration = try PostgresConfiguration(TestPostgres.requireURL())
    configuration.searchPath = schema
    change(&configuration)
    let client = PostgresClient(configuration, logger: Logger(label: "test"))
    try await client.execute("CREATE SCHEMA \(schema)")
    try await client.execute("CREATE TABLE notes (id bigint PRIMARY KEY, body text NOT NULL)")
    let result: Result<Void, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    // Not the client of the test, which may have been closed or broken on purpose.
    let other = PostgresClient(try PostgresConfiguration(TestPostgres.requireURL()), logger: Logger(label: "test"))
    _ = try? await other.execute("DROP SCHEMA \(schema) CASCADE")
    await other.close()
    await client.close()
    try result.get()
}

extension PostgresClient {
    func notes() async throws -> [Int64] { try await query("SELECT id FROM notes ORDER BY id").map { $0.int(0) } }
}

extension PostgresPipeline {
    init(_ statements: String...) {
        self.init()
        for statement in statements { add(statement) }
    }
}

extension PostgresRow {
    func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}
