import Foundation
import MemoryStorage
import Storage
import StorageSQLite

/// The stores that keep the contract of the control store.
enum ControlVariant: CaseIterable, Sendable {
    case sqliteFile, sqliteInMemory, dictionaries

    /// One of each engine, for what does not depend on files.
    static let inMemory: [ControlVariant] = [.sqliteInMemory, .dictionaries]

    func withStore(_ body: (any ControlStore) async throws -> Void) async throws {
        switch self {
        case .dictionaries: try await body(MemoryControlStore())
        case .sqliteInMemory: try await body(try await SQLiteStores.inMemory().control())
        case .sqliteFile:
            try await withControlFolder { try await body(try await SQLiteStores(folder: $0).control()) }
        }
    }
}

func withControlFolder(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-control-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    try await body(url.path)
}
