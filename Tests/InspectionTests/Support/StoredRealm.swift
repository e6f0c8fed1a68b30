import Changesets
import Foundation
import Messages
import RealmState
import Storage
import StorageSQLite
import SyncModel
import Views

@testable import Inspection

/// A folder with one slice and one realm in it, as a worker would have written them, and ways to do damage to it.
final class StoredRealm {
    static let name = RealmName(app: "tasks", partition: "\"nw\"")
    /// A class Dog with an integer key and the dog 7; then the dogs 8 and 9 without the class, which is there already.
    static let dogs = [
        "3f0003446f673f01035f696400000001010002000107", "3f0003446f673f01035f696400000001010002000108",
        "3f0003446f673f01035f696400000001010002000109",
    ]

    let folder: String
    var readers: any StoreInspector { stores.inspector() }
    let store: any SliceStore
    let epoch: Epoch
    var record: RealmRecord
    var history: [HistoryRecord] = []
    private let stores: SQLiteStores

    /// - Parameter changesets: in hexadecimal; all but the first by client file 2.
    init(changesets: [String] = dogs, generation: UInt64 = 1, name: RealmName = StoredRealm.name) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "inspection-\(UUID().uuidString)").path
        stores = SQLiteStores(folder: folder)
        store = try await stores.store(for: SliceNumber(0))
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 1 << 60, gone: nil) else {
            throw InspectionError(.corrupt, "not owned")
        }
        self.epoch = epoch
        record = RealmRecord(
            id: RealmID(1), name: name, generation: generation, salt: 77, saltEpoch: epoch, nextIdent: 3)
        var state = RealmState()
        for (index, hex) in changesets.enumerated() {
            let bytes = HexBytes(hex: hex)?.bytes ?? []
            let changeset = try Changeset(parsing: bytes)
            let before = changeset.touchedAddresses.map { ($0, state.object($0)) }
            try state.apply(changeset)
            let images = BeforeImages(
                before.compactMap { address, object in
                    state.schema.table(address.className).map {
                        .init(ObjectSlot($0.id, address.key), before: object.map { _ in StoredObject() })
                    }
                })
            record.latest = SaltedServerVersion(version: ServerVersion(UInt64(index + 1)), salt: 77)
            record.historyBytes += UInt64(bytes.count)
            history.append(
                HistoryRecord(
                    HistoryEntry(
                        serverVersion: record.latest.version,
                        clientVersion: index == 0 ? 0 : ClientVersion(UInt64(index + 1)),
                        originFile: index == 0 ? 1 : 2, timestamp: 5, changeset: bytes),
                    salt: 77, cumulativeBytes: record.historyBytes,
                    images: name.isFlexible ? images.encoded() : [],
                    event: index == 1 ? "order-17" : ""))
        }
        record.schema = state.schema.encoded()
        var batch = SliceBatch()
        batch.realms = [record]
        batch.history = [key: history]
        for (table, key, object, _) in state.takeChanges().upserted {
            batch.objects[record.id, default: [:]][ObjectRow(table: table.rawValue, key: key)] = object.encoded()
        }
        batch.clientFiles = [clientFile()]
        try await store.commit(batch, epoch: epoch)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var key: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }

    func clientFile(_ change: (inout ClientFileRecord) -> Void = { _ in }) -> ClientFileRecord {
        var file = ClientFileRecord(
            realm: record.id, file: ClientFileIdent(ident: 2, salt: 9), user: "u1", generation: record.generation,
            upload: UploadCursor(clientVersion: 3, serverVersion: 1), seenServerVersion: 1, createdAt: 1, lastSeen: 2,
            connection: "c", protocolVersion: 10, userAgent: "RealmSwift/10.50.0 (Linux)")
        change(&file)
        return file
    }

    func commit(_ change: (inout SliceBatch) -> Void) async throws {
        var batch = SliceBatch()
        change(&batch)
        try await store.commit(batch, epoch: epoch)
    }

    func verify() async throws -> RealmVerdict {
        let reader = try await readers.reader(for: SliceNumber(0))
        guard let verdict = try await RealmVerifier.verify(record.name, in: reader) else {
            throw InspectionError(.notFound, "no realm")
        }
        return verdict
    }

    /// The row of the dog with this number.
    func dog(_ number: Int64) throws -> ObjectRow {
        let schema = try Schema(decoding: record.schema)
        guard let table = schema.table("Dog")?.id else { throw InspectionError(.notFound, "no class Dog") }
        return ObjectRow(table: table.rawValue, key: .int(number))
    }
}
