import Changesets
import Foundation
import MemoryStorage
import Storage
import StoragePostgreSQL
import StorageSQLite
import SyncModel
import TestSupport
import Testing

/// The stores that keep the contract of slices.
enum SliceVariant: String, CaseIterable, CustomTestStringConvertible {
    case sqliteFile, sqliteInMemory, dictionaries, postgres

    /// PostgreSQL where there is a server, and where one is required.
    static var allCases: [SliceVariant] {
        [.sqliteFile, .sqliteInMemory, .dictionaries] + (TestPostgres.isAvailable ? [.postgres] : [])
    }

    var testDescription: String { rawValue }

    /// Whether what is deleted takes space until it is returned.
    var keepsDeletedSpace: Bool { self == .sqliteFile || self == .sqliteInMemory }

    func withStore(_ body: (any SliceStore) async throws -> Void) async throws {
        switch self {
        case .dictionaries: try await body(MemorySliceStore(slice: SliceNumber(3)))
        case .sqliteInMemory: try await body(SQLiteStores.inMemory().store(for: SliceNumber(3)))
        case .postgres:
            try await withPostgres(leases: .callers) { stores, _ in try await body(stores.store(for: SliceNumber(3))) }
        case .sqliteFile:
            try await withFolder { folder in
                try await body(SQLiteStores(folder: folder).store(for: SliceNumber(3)))
            }
        }
    }
}

func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-slices-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
}

extension SliceStore {
    /// Takes the slice, whoever has it.
    func take(_ worker: String = "w") async throws -> Epoch {
        let claim = try await claim(
            by: worker, now: 1_000, leaseUntil: 2_000, gone: try await ownership()?.owner)
        guard case .owned(let epoch) = claim else { throw StoreError(.fenced, "\(claim)") }
        return epoch
    }
}

enum Sample {
    static let name = RealmName(app: "tasks", partition: "\"p\"")

    static func realm(
        _ id: Int64 = 1, generation: UInt64 = 1, latest: ServerVersion = 0,
        compatibility: PeerCompatibility = .stockClients
    ) -> RealmRecord {
        RealmRecord(
            id: RealmID(id), name: RealmName(app: "tasks", partition: "\"p\(id)\""), generation: generation,
            latest: SaltedServerVersion(version: latest, salt: 77), salt: 77, saltEpoch: Epoch(1), historyBytes: 12,
            nextIdent: 5, schema: [1, 2, 3], imaged: [4, 5], compatibility: compatibility)
    }

    static func file(
        _ ident: FileIdent, realm: Int64 = 1, user: String = "u", generation: UInt64 = 1, lastSeen: UInt64 = 50
    ) -> ClientFileRecord {
        ClientFileRecord(
            realm: RealmID(realm), file: ClientFileIdent(ident: ident, salt: FileSalt(.max)), user: user,
            generation: generation,
            upload: UploadCursor(clientVersion: ClientVersion(.max), serverVersion: 3), createdAt: 1,
            lastSeen: lastSeen,
            connection: "c", protocolVersion: 10, userAgent: "agent", views: [7, 8])
    }

    static func entry(_ version: ServerVersion, _ changeset: [UInt8] = [1, 2, 3]) -> HistoryRecord {
        HistoryRecord(
            HistoryEntry(
                serverVersion: version, clientVersion: ClientVersion(version.rawValue), originFile: 2,
                timestamp: SyncTimestamp(.max), changeset: changeset),
            salt: 9, cumulativeBytes: version.rawValue * 3, images: [UInt8(truncatingIfNeeded: version.rawValue)],
            event: version.rawValue % 2 == 0 ? "event \(version) \u{e9}" : "")
    }
}
