import Foundation
import GRDB
import Storage
import StorageSQLite
import SyncModel
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard) struct BackupTests {
    private let cluster = ClusterRecord(id: "aa", prefix: "sluice")
    private let restore = RestoreRecord(id: "restore-1", at: 5_000)

    /// A cluster's store with two slices, and the folders of a backup and of a store to come.
    private func withStore(
        _ body: (_ store: String, _ backup: String, _ restored: String, _ control: any ControlStore) async throws ->
            Void
    ) async throws {
        try await withFolder { folder in
            let stores = SQLiteStores(folder: "\(folder)/store")
            let control = try await stores.control()
            _ = try await control.sliceCount(orCreate: 2)
            _ = try await control.cluster(orCreate: cluster)
            try await control.insert(AppRecord(id: "tasks", createdAt: 1))
            let registry = SliceRegistry(cluster: cluster.id, control: control)
            for number in 0..<2 { _ = try await registry.open(SliceNumber(number), in: stores) }
            try await body("\(folder)/store", "\(folder)/backup", "\(folder)/restored", control)
        }
    }

    private func slice(_ number: Int, of folder: String) async throws -> any SliceStore {
        try await SQLiteStores(folder: folder).store(for: SliceNumber(number), mayMake: false)
    }

    private func backUp(_ store: String, to folder: String) async throws -> BackupManifest {
        try await SQLiteStores.backUp(store, to: folder, now: { 1_000 })
    }

    @Test func backupHasEarlierCommitsWhileWritingGoesOn() async throws {
        try await withStore { store, backup, restored, control in
            let owned = try await slice(1, of: store)
            let epoch = try await owned.take()
            var first = SliceBatch()
            first.realms = [Sample.realm()]
            first.history = [
                HistoryKey(realm: RealmID(1), generation: 1): (1...50).map { Sample.entry(ServerVersion($0)) }
            ]
            try await owned.commit(first, epoch: epoch)
            let isOver = Mutex(false)
            let writing = Task {
                var version: UInt64 = 50
                while !isOver.withLock({ $0 }) {
                    version += 1
                    var batch = SliceBatch()
                    batch.history = [
                        HistoryKey(realm: RealmID(1), generation: 1): [Sample.entry(ServerVersion(version))]
                    ]
                    try await owned.commit(batch, epoch: epoch)
                }
                return version
            }
            let manifest = try await backUp(store, to: backup)
            isOver.withLock { $0 = true }
            let last = try await writing.value
            expectEqual(manifest.files.map(\.name), ["slice-0.sqlite", "slice-1.sqlite", "control.sqlite"])
            // Nobody waited for the copy.
            expectTrue(last > 51)
            for name in manifest.files.map(\.name) {
                let mode = try FileManager.default.attributesOfItem(atPath: "\(backup)/\(name)")[.posixPermissions]
                expectTrue(mode as? Int == 0o600)
            }
            try FileManager.default.removeItem(atPath: store)
            _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
            let copy = try await slice(1, of: restored)
            let history = try await copy.history(
                of: HistoryKey(realm: RealmID(1), generation: 1), after: 0, through: 1_000_000, maxBytes: .max)
            expectTrue(
                history.count >= 50 && history.map(\.version) == (1...UInt64(history.count)).map { ServerVersion($0) })
            try await expectEqual(SQLiteStores(folder: restored).control().apps().map(\.id), ["tasks"])
            _ = control
        }
    }

    @Test func restoredStoresAllowForProgressSinceTheBackup() async throws {
        try await withStore { store, backup, restored, control in
            let owned = try await slice(0, of: store)
            var batch = SliceBatch()
            batch.realms = [Sample.realm()]
            let epoch = try await owned.take()
            try await owned.commit(batch, epoch: epoch)
            // The control store is copied later, and has seen a later owner and a termination.
            try await control.recordSlice(SliceNumber(0), epoch: Epoch(6))
            _ = try await control.updateApp("tasks") { $0.generation = 2 }
            try await control.changeCampaigns { transaction in
                var changes = CampaignChanges()
                changes.campaigns = [
                    CampaignRecord(
                        id: "c", app: "tasks", kind: .termination, reason: nil, startedAt: 1, generation: 2,
                        state: .running, slicesExpected: 2)
                ]
                try transaction.write(changes)
            }
            _ = try await backUp(store, to: backup)
            _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
            let copy = try await slice(0, of: restored)
            try await expectEqual(copy.restore(), restore)
            let realm = try #require(try await copy.realm(Sample.realm().name))
            expectEqual(realm.lostIdents, 5..<1_000_005)
            try await expectTrue(copy.take().value > 6 + 900)
            let put = try await SQLiteStores(folder: restored).control()
            try await expectEqual(put.unpublishedCampaigns().map(\.id), ["c"])
            // A worker takes what was restored for the cluster's latest.
            let registry = SliceRegistry(cluster: "aa", control: put)
            for number in 0..<2 { _ = try await registry.open(SliceNumber(number), in: SQLiteStores(folder: restored)) }
            try await expectEqual(SQLiteStores(folder: restored).inspector().cluster(), .named(cluster))
        }
    }

    @Test func aBackupIsNotedInTheStoreThatItIsOf() async throws {
        try await withStore { store, backup, _, control in
            let manifest = try await backUp(store, to: backup)
            try await expectTrue(control.lastBackup() == nil)
            try await SQLiteStores.recordBackup(of: manifest.startedAt, in: store)
            try await expectEqual(control.lastBackup(), 1_000)
            let missing = await #expect(throws: StoreError.self) {
                try await SQLiteStores.recordBackup(of: 2_000, in: "\(store)/nowhere")
            }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test func nothingIsOverwritten() async throws {
        try await withStore { store, backup, _, _ in
            _ = try await backUp(store, to: backup)
            let again = await #expect(throws: StoreError.self) { _ = try await backUp(store, to: backup) }
            expectEqual(again?.code, .alreadyExists)
            let over = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStores.restore(backup, to: store, as: restore)
            }
            expectEqual(over?.code, .alreadyExists)
        }
    }

    @Test func aBackupThatIsNotWholeIsRefusedBeforeAnythingIsWritten() async throws {
        try await withStore { store, backup, restored, _ in
            _ = try await backUp(store, to: backup)
            func refusal() async -> StoreError.Code? {
                await #expect(throws: StoreError.self) {
                    _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
                }?.code
            }
            let file = "\(backup)/slice-1.sqlite"
            let sound = try Data(contentsOf: URL(filePath: file))
            var damaged = sound
            damaged[damaged.count / 2] ^= 1
            try damaged.write(to: URL(filePath: file))
            await expectEqual(refusal(), .corrupt)
            try sound.prefix(4_096).write(to: URL(filePath: file))
            await expectEqual(refusal(), .corrupt)
            try FileManager.default.removeItem(atPath: file)
            await expectEqual(refusal(), .notFound)
            try sound.write(to: URL(filePath: file))
            try FileManager.default.removeItem(atPath: "\(backup)/manifest.json")
            await expectEqual(refusal(), .notFound)
            expectTrue(!FileManager.default.fileExists(atPath: restored))
        }
    }

    /// A backup may have been in anybody's hands: it is read without following links, and without waiting for what is no file.
    @Test func linksAndPipesInABackupAreRefused() async throws {
        try await withStore { store, backup, restored, _ in
            _ = try await backUp(store, to: backup)
            let file = "\(backup)/slice-1.sqlite"
            let elsewhere = "\(store)-elsewhere"
            func refusal() async -> StoreError? {
                let error = await #expect(throws: StoreError.self) {
                    _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
                }
                expectTrue(!FileManager.default.fileExists(atPath: restored))
                return error
            }
            for name in ["slice-1.sqlite", "control.sqlite", "manifest.json"] {
                let path = "\(backup)/\(name)"
                // The very file, somewhere else.
                try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
                let linked = await refusal()
                expectTrue(linked?.code == .corrupt && linked?.message.contains(path) == true)
                try FileManager.default.removeItem(atPath: path)
                expectEqual(mkfifo(path, 0o600), 0)
                await expectEqual(refusal()?.code, .corrupt)
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
            }
            for suffix in ["-journal", "-wal"] {
                expectEqual(mkfifo(file + suffix, 0o600), 0)
                await expectEqual(refusal()?.code, .corrupt)
                try FileManager.default.removeItem(atPath: file + suffix)
            }
            _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
        }
    }

    @Test func aStoreThatMissesASliceIsNotBackedUp() async throws {
        try await withStore { store, backup, _, _ in
            try FileManager.default.removeItem(atPath: "\(store)/slice-1.sqlite")
            let missing = await #expect(throws: StoreError.self) { _ = try await backUp(store, to: backup) }
            expectEqual(missing?.code, .notFound)
            let unfinished = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStores.verify(backup: backup)
            }
            expectEqual(unfinished?.code, .notFound)
        }
    }
}
