import Foundation
import MemoryStorage
package import Storage
import StoragePostgreSQL
import StorageSQLite
import TestSupport

/// The stores that keep the contract of the control store.
package enum ControlVariant: Sendable {
    case sqliteFile, sqliteInMemory, dictionaries, postgres

    /// All, with PostgreSQL where there is a server.
    package static var allCases: [ControlVariant] {
        [.sqliteFile, .sqliteInMemory, .dictionaries] + (TestPostgres.isAvailable ? [.postgres] : [])
    }

    /// The variants in memory, for what does not depend on files.
    package static let inMemory: [ControlVariant] = [.sqliteInMemory, .dictionaries]

    package func withStore(_ body: (any ControlStore) async throws -> Void) async throws {
        switch self {
        case .dictionaries: try await body(MemoryControlStore())
        case .sqliteInMemory: try await body(try await SQLiteStores.inMemory().control())
        case .sqliteFile:
            try await withControlFolder { try await body(try await SQLiteStores(folder: $0).control()) }
        case .postgres:
            try await withPostgresSchema { schema in
                try await body(try await PostgresControlStore.open(schema.client()))
            }
        }
    }
}

/// Runs `body` with the path of a folder that does not exist yet and is removed afterwards.
package func withControlFolder(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-control-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    try await body(url.path)
}
