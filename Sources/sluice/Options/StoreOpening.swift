import Logging
import Operations
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSQLite

extension ClusterSettings {
    /// The stores that the setting `store.url` names. Opens nothing yet.
    ///
    /// - Parameter logger: what is said of connections to a database; nil: only what goes badly wrong.
    func stores(logger: Logger? = nil) throws -> any Stores {
        try storeURL().stores(logger: logger ?? quietLogger)
    }
}

extension StoreURL {
    func stores(logger: Logger) throws -> any Stores {
        switch self {
        case .sqlite(let folder): return SQLiteStores(folder: folder)
        case .sqliteInMemory: return SQLiteStores.inMemory()
        case .postgres(let connection, let schema):
            return PostgresStores(try Self.configuration(connection), schema: schema, logger: logger)
        }
    }

    /// The folder of the embedded store.
    func requireFolder() throws -> String {
        guard case .sqlite(let folder) = self else {
            throw CommandFailure(.badInput, "a store in memory belongs to its process: set store.url")
        }
        return folder
    }

    /// A client for commands that look at the tables themselves, with one connection.
    ///
    /// - Parameters:
    ///   - timeout: how long a statement may take; nil: as long as one of a process.
    ///   - plans: settings of the server's planner.
    /// - Throws: `badInput` for another engine.
    func postgresClient(
        for what: String, timeout: Duration? = nil, plans: [String: String] = [:], logger: Logger
    ) throws -> PostgresClient {
        guard case .postgres(let connection, let schema) = self else {
            throw CommandFailure(.badInput, "\(what): expected a store in PostgreSQL, postgres://user@host/database")
        }
        var configuration = try Self.configuration(connection)
        configuration.searchPath = schema
        configuration.connections = 1
        configuration.sessions = 1
        if let timeout { configuration.timeout = timeout }
        configuration.serverSettings = plans
        return PostgresClient(configuration, logger: logger)
    }

    private static func configuration(_ connection: String) throws -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(connection)
        } catch {
            throw CommandFailure(.badInput, "store.url: \(error.message)")
        }
    }
}

extension PostgresClient {
    /// Runs `body`, and ends the connections.
    func closing<Value>(_ body: (PostgresClient) async throws -> Value) async throws -> Value {
        do {
            let value = try await body(self)
            await close()
            return value
        } catch {
            await close()
            throw error
        }
    }
}
