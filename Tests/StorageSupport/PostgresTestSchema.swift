import Logging
package import PostgreSQL
import Synchronization
import TestSupport

/// A schema of the tests' PostgreSQL server that does not exist yet, and clients of it.
package final class PostgresTestSchema: Sendable {
    package let name = TestPostgres.uniqueName()
    /// The address of the server's superuser.
    package let url: String
    private let clients = Mutex<[PostgresClient]>([])

    fileprivate init() throws { url = try TestPostgres.requireURL() }

    /// A new client, as another process has one.
    ///
    /// - Parameter change: of its settings.
    package func client(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresClient {
        var configuration = try PostgresConfiguration(url)
        configuration.searchPath = name
        configuration.connections = 2
        change(&configuration)
        let client = PostgresClient(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        clients.withLock { $0.append(client) }
        return client
    }

    fileprivate func remove() async throws {
        _ = try await client().execute("DROP SCHEMA IF EXISTS \(name) CASCADE")
        for client in clients.withLock({ $0 }) { await client.close() }
    }
}

/// Runs `body` with a schema, which is removed afterwards.
package func withPostgresSchema(_ body: (PostgresTestSchema) async throws -> Void) async throws {
    let schema = try PostgresTestSchema()
    do {
        try await body(schema)
    } catch {
        try? await schema.remove()
        throw error
    }
    try await schema.remove()
}
