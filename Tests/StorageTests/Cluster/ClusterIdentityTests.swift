import Foundation
import Storage
import StorageSQLite
import StorageSupport
import SyncModel
import TestSupport
import Testing

@Suite(.hangGuard) struct ClusterIdentityTests {
    private let cluster = ClusterRecord(id: "aa", prefix: "sluice")

    // MARK: What the stores keep

    @Test(arguments: ControlVariant.allCases)
    func aClusterIsRecordedOnceAndChangedByItsOperator(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await expectTrue(store.cluster() == nil)
            let missing = await #expect(throws: StoreError.self) { _ = try await store.updateCluster { _ in } }
            expectEqual(missing?.code, .notFound)
            try await expectEqual(store.cluster(orCreate: cluster), cluster)
            try await expectEqual(store.cluster(orCreate: ClusterRecord(id: "bb", prefix: "other")), cluster)
            let marked = try await store.updateCluster { $0.hasMarkedBroker = true }
            expectEqual(marked, ClusterRecord(id: "aa", prefix: "sluice", hasMarkedBroker: true))
            _ = try await store.updateCluster { $0.prefix = "moved" }
            try await expectEqual(store.cluster(), ClusterRecord(id: "aa", prefix: "moved", hasMarkedBroker: true))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func theLatestEpochOfASliceStays(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await expectTrue(store.slicesMade().isEmpty)
            try await store.recordSlice(SliceNumber(10), epoch: Epoch(0))
            try await store.recordSlice(SliceNumber(2), epoch: Epoch(9))
            try await store.recordSlice(SliceNumber(2), epoch: Epoch(10))
            try await store.recordSlice(SliceNumber(2), epoch: Epoch(4))
            try await expectEqual(store.slicesMade(), [SliceNumber(10): Epoch(0), SliceNumber(2): Epoch(10)])
            try await store.forgetSlice(SliceNumber(2))
            try await expectEqual(store.slicesMade(), [SliceNumber(10): Epoch(0)])
            // Beside it stand other settings.
            try await expectEqual(store.sliceCount(orCreate: 8), 8)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func theLatestBackupIsRemembered(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await expectTrue(store.lastBackup() == nil)
            try await store.recordBackup(of: 900)
            try await store.recordBackup(of: 1_000)
            try await store.recordBackup(of: 950)
            try await expectEqual(store.lastBackup(), 1_000)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aSliceBearsItsClusterAndIsTakenFromWhoeverHasIt(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            try await expectTrue(store.cluster() == nil)
            try await store.setCluster("aa")
            try await expectEqual(store.cluster(), "aa")
            let epoch = try await store.take()
            let restore = RestoreRecord(id: "r1", at: 7)
            try await store.putBack(restore, epoch: Epoch(40))
            try await expectEqual(store.restore(), restore)
            let fenced = await #expect(throws: StoreError.self) { try await store.commit(SliceBatch(), epoch: epoch) }
            expectEqual(fenced?.code, .fenced)
            try await expectEqual(store.take(), Epoch(41))
            try await store.putBack(RestoreRecord(id: "r2", at: 8), epoch: Epoch(3))
            try await expectEqual(store.take(), Epoch(42))
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aSliceThatWasPutBackGivesNoIdentOutAgain(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            var batch = SliceBatch()
            batch.realms = [Sample.realm()]
            try await store.commit(batch, epoch: try await store.take())
            try await store.putBack(RestoreRecord(id: "r", at: 7), epoch: Epoch(9))
            var realm = try #require(try await store.realm(Sample.realm().name))
            expectTrue(realm.lostIdents == 5..<1_000_005 && realm.nextIdent == 1_000_005)
            realm.nextIdent = 1_000_006
            batch.realms = [realm]
            try await store.commit(batch, epoch: try await store.take())
            try await expectEqual(store.realm(Sample.realm().name), realm)
        }
    }

    @Test func inspectorTellsTheClusterWithoutMakingAnything() async throws {
        try await withFolder { folder in
            let inspector = SQLiteStores(folder: folder).inspector()
            try await expectEqual(inspector.cluster(), .none)
            expectTrue(!FileManager.default.fileExists(atPath: folder))
            let control = try await SQLiteStores(folder: folder).control()
            // What a process leaves that is stopped before it has written anything.
            try await expectEqual(inspector.cluster(), .none)
            _ = try await control.sliceCount(orCreate: 4)
            try await expectEqual(inspector.cluster(), .unnamed)
            _ = try await control.cluster(orCreate: cluster)
            try await control.recordSlice(SliceNumber(1), epoch: Epoch(3))
            try await expectEqual(inspector.cluster(), .named(cluster))
            try await expectEqual(inspector.slicesMade(), [SliceNumber(1): Epoch(3)])
        }
        try await withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: "\(folder)/control.sqlite", contents: nil)
            try await expectEqual(SQLiteStores(folder: folder).inspector().cluster(), .none)
        }
    }

    // MARK: How a process comes to its cluster

    private func entry(_ stored: StoredCluster, slices: Int = 0, prefix: String = "sluice") throws -> ClusterEntry {
        try ClusterEntry(
            stored, slices: (0..<slices).map { SliceNumber($0) }, count: try #require(SliceCount(3)), prefix: prefix,
            place: "/srv/x")
    }

    @Test func onlyWhatBelongsTogetherIsEntered() throws {
        try expectEqual(entry(.named(cluster), slices: 3), .enter(cluster))
        try expectEqual(entry(.none), .create)
        // Stores of earlier versions: one of a coordinator alone, and one that workers have used.
        try expectEqual(entry(.unnamed), .adopt(slices: []))
        try expectEqual(entry(.unnamed, slices: 2), .adopt(slices: [SliceNumber(0), SliceNumber(1), SliceNumber(2)]))
        let foreign = #expect(throws: StoreError.self) { _ = try entry(.named(cluster), prefix: "second") }
        expectTrue(foreign?.code == .mismatch && foreign?.message.contains("SLUICE_AMQP_PREFIX=sluice") == true)
        let headless = #expect(throws: StoreError.self) { _ = try entry(.none, slices: 3) }
        expectTrue(headless?.code == .mismatch && headless?.message.contains("no control store") == true)
    }

    // MARK: Slices

    private func withCluster(
        _ body: (_ folder: String, _ control: any ControlStore, _ registry: SliceRegistry) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let control = try await SQLiteStores(folder: folder).control()
            try await body(folder, control, SliceRegistry(cluster: "aa", control: control))
        }
    }

    private let slice = SliceNumber(1)

    private func open(_ folder: String, _ registry: SliceRegistry) async throws -> any SliceStore {
        try await registry.open(slice, in: SQLiteStores(folder: folder))
    }

    private func refusal(_ folder: String, _ registry: SliceRegistry) async -> StoreError? {
        await #expect(throws: StoreError.self) { _ = try await open(folder, registry) }
    }

    @Test func aSliceThatWasMadeIsNotMadeAnew() async throws {
        try await withCluster { folder, control, registry in
            _ = try await open(folder, registry)
            let file = "\(folder)/slice-1.sqlite"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            expectEqual(mode, 0o600)
            for name in [file, "\(file)-wal", "\(file)-shm"] { try? FileManager.default.removeItem(atPath: name) }
            let missing = await refusal(folder, registry)
            expectTrue(missing?.code == .mismatch && missing?.message.contains("adopt --slice 1") == true)
            expectTrue(!FileManager.default.fileExists(atPath: file))
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            await expectEqual(refusal(folder, registry)?.message.contains("is empty"), true)
            try await control.forgetSlice(slice)
            _ = try await open(folder, registry)
            try await expectEqual(control.slicesMade(), [slice: Epoch(0)])
        }
    }

    @Test func aSliceOfAnotherClusterIsRefused() async throws {
        try await withCluster { folder, _, registry in
            let store = try await open(folder, registry)
            try await expectEqual(store.cluster(), "aa")
            try await store.setCluster("bb")
            await expectEqual(refusal(folder, registry)?.message.contains("of cluster bb"), true)
            let taken = await #expect(throws: StoreError.self) { try await registry.check(store) }
            expectEqual(taken?.code, .mismatch)
        }
    }

    @Test func anOlderCopyOfASliceIsRefused() async throws {
        try await withCluster { folder, _, registry in
            let store = try await open(folder, registry)
            for _ in 1...3 { try await registry.taken(slice, epoch: try await store.take()) }
            try await registry.check(store)
            try await registry.taken(slice, epoch: Epoch(7))
            await expectEqual(refusal(folder, registry)?.message.contains("older copy"), true)
            try await store.putBack(RestoreRecord(id: "r", at: 1), epoch: Epoch(7))
            _ = try await open(folder, registry)
        }
    }

    /// A slice of a version without ids, in a cluster that has just got its own.
    @Test func aSliceWithoutAnIDIsTaken() async throws {
        try await withCluster { folder, control, registry in
            _ = try await SQLiteStores(folder: folder).store(for: slice).take()
            try await control.recordSlice(slice, epoch: Epoch(0))
            let store = try await open(folder, registry)
            try await expectEqual(store.cluster(), "aa")
        }
    }
}
