import Changesets
import Foundation
import RealmState
import Storage
import StorageSQLite
import SyncModel

/// A realm that is built from changesets, to be compared with a stored one. Its objects are in a temporary store, so that
/// memory stays bounded however large the realm grows.
final class ScratchRealm {
    // The most objects in memory and changes per commit, and the bytes of history up to which the store itself is in memory.
    private static let maxObjects = 50_000
    private static let maxChanges = 5_000
    static let maxBytesInMemory: UInt64 = 64 << 20

    /// A disk: what is in /tmp may take memory.
    private static var folder: String { ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp" }

    private(set) var state: RealmState
    private let store: any SliceStore
    private let epoch: Epoch
    private let folder: String?
    private let id = RealmID(1)
    private var pendingChanges = 0

    /// - Parameters:
    ///   - historyBytes: how many bytes of changesets are going to be applied.
    ///   - compatibility: the compatibility of the realm that is verified.
    init(historyBytes: UInt64, compatibility: PeerCompatibility) async throws {
        state = RealmState(schema: Schema(), residency: .partial, compatibility: compatibility)
        folder =
            historyBytes > Self.maxBytesInMemory
            ? "\(Self.folder)/sluice-verify-\(UUID().uuidString)" : nil
        stores = folder.map { SQLiteStores(folder: $0) } ?? .inMemory()
        store = try await stores.store(for: SliceNumber(0))
        guard case .owned(let epoch) = try await store.claim(by: "verify", now: 0, leaseUntil: 1 << 60, gone: nil)
        else { throw InspectionError(.corrupt, "the scratch store cannot be used") }
        self.epoch = epoch
    }

    private let stores: SQLiteStores

    deinit {
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    func apply(_ changeset: Changeset) async throws {
        try await load(changeset.touchedAddresses)
        try state.apply(changeset)
        pendingChanges += changeset.instructions.count
        if pendingChanges >= Self.maxChanges { try await flush() }
    }

    func flush() async throws {
        pendingChanges = 0
        let changes = state.takeChanges()
        var batch = SliceBatch()
        for table in changes.erasedTables {
            batch.tableRemovals[id, default: []].insert(table.rawValue)
        }
        for (table, key) in changes.erased {
            batch.objectRemovals[id, default: []].insert(ObjectRow(table: table.rawValue, key: key))
        }
        for (table, key, object, _) in changes.upserted {
            batch.objects[id, default: [:]][ObjectRow(table: table.rawValue, key: key)] = object.encoded()
        }
        if !batch.isEmpty { try await store.commit(batch, epoch: epoch) }
        state.trimCache(to: Self.maxObjects)
    }

    /// The objects that exist among those with the addresses. Call `flush` before.
    func objects(_ addresses: [ObjectAddress]) async throws -> [ObjectAddress: StoredObject] {
        try await store.objects(in: id, at: addresses, state.schema).mapValues { try StoredObject(decoding: $0) }
    }

    /// Visits the addresses of all objects in pages. Call `flush` before.
    func forEachPage(_ body: ([ObjectAddress]) async throws -> Void) async throws {
        try await store.forEachObjectPage(in: id) { page in
            try await body(page.compactMap { state.schema.address(of: $0.row) })
        }
    }

    /// Loads objects that are to be looked at or changed.
    func load(_ addresses: Set<ObjectAddress>) async throws {
        let missing = addresses.filter { !state.isLoaded($0) }
        guard !missing.isEmpty else { return }
        let found = try await objects(Array(missing))
        for address in missing { state.load(address, found[address]) }
    }
}
