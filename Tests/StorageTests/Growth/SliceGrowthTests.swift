import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// A cluster with more slices has every realm once, in its slice, as it was; whatever happened on the way there.
@Suite(.hangGuard) struct SliceGrowthTests {
    private static let (from, to) = (3, 7)

    private func requireGrown(_ cluster: GrowingCluster, _ before: [String: [String]]) async throws {
        let after = try await cluster.realmRows(slices: Self.to)
        expectEqual(after.keys.sorted(), before.keys.sorted())
        expectEqual(after, before)
        let (_, growth) = try await cluster.store.growth()
        expectTrue(growth == nil)
        let stores = cluster.open()
        let inspector = stores.inspector()
        try await expectEqual(inspector.recordedSliceCount(), Self.to)
        try await expectEqual(inspector.slices().count, Self.to)
        try await expectEqual(inspector.cluster(), .named(GrowingCluster.record))
        let control = try await stores.control()
        let registry = SliceRegistry(cluster: GrowingCluster.record.id, control: control)
        let count = try #require(SliceCount(Self.to))
        var usage: [String: (realms: Int, files: Int)] = [:]
        for slice in count.all {
            let store = try await registry.open(slice, in: stores)
            try await expectEqual(store.ownership()?.isReleased, true)
            for app in ["app0", "app1"] {
                let found = try await store.usage(ofApp: app)
                usage[app, default: (0, 0)].realms += found.realms
                usage[app, default: (0, 0)].files += found.clientFiles
            }
        }
        expectEqual(usage.values.map(\.realms).reduce(0, +), before.count)
        expectEqual(usage.values.map(\.files).reduce(0, +), before.count * 3)
    }

    @Test(arguments: GrowthEngine.allCases) func everyRealmIsInItsSliceAsItWas(_ engine: GrowthEngine) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            let before = try await cluster.realmRows(slices: Self.from)
            expectTrue(before.count == 36 && before.values.allSatisfy { $0.count == 1 + 3 + 5 + 5 + 9 + 1 + 1 })
            let plan = try await cluster.division(to: Self.to).plan()
            expectTrue(plan.realms == 36 && plan.moving > 10 && plan.moving < 36)
            try await expectEqual(cluster.realmRows(slices: Self.from), before)
            let report = try await cluster.division(to: Self.to).run()
            expectTrue(report.realms == 36 && report.moving == plan.moving && !report.isContinued)
            try await requireGrown(cluster, before)
        }
    }

    /// What a slice knows of messages and held resets is true of its realms wherever they are; what waits to be published waits once.
    @Test(arguments: GrowthEngine.allCases) func newSlicesKnowWhatTheOldOnesKnew(_ engine: GrowthEngine) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            let stores = cluster.open()
            let restore = RestoreRecord(id: "restore-1", at: 4)
            let second = try await stores.store(for: SliceNumber(1), mayMake: false)
            try await second.putBack(restore, epoch: Epoch(40))
            _ = try await cluster.division(to: Self.to).run()
            for number in Self.from..<Self.to {
                let store = try await stores.store(for: SliceNumber(number), mayMake: false)
                var lookup = SliceLookup()
                lookup.messages = ["everywhere", "s0", "s1", "s2", "s3"]
                let seen = try await store.read(lookup).messages
                expectEqual(seen, ["everywhere", "s0", "s1", "s2"])
                try await expectEqual(store.resetHolds().map(\.heldSince), [9])
                try await expectEqual(store.restore(), restore)
                try await expectTrue(store.outbox(after: 0, maxBytes: 1_000).isEmpty)
                // Above the epoch of every slice that its realms come from, so that salts are drawn anew.
                try await expectTrue(store.take() > Epoch(40))
            }
            let first = try await stores.store(for: SliceNumber(0), mayMake: false)
            try await expectEqual(first.outbox(after: 0, maxBytes: 1_000).map(\.record.id), ["m0"])
        }
    }

    /// Interrupted after each call, and gone on with.
    @Test(arguments: GrowthEngine.allCases) func nothingIsLostWhereverItIsInterrupted(
        _ engine: GrowthEngine
    ) async throws {
        var calls = 1
        var isThrough = false
        // Every engine stores the same rows; the slower one is interrupted less often.
        let step = engine == .sqlite ? 5 : 17
        while !isThrough {
            try await engine.withCluster(slices: Self.from) { cluster in
                let before = try await cluster.realmRows(slices: Self.from)
                do {
                    _ = try await cluster.division(
                        to: Self.to, in: InterruptedGrowth(cluster.store, calls: calls)
                    ).run()
                    isThrough = true
                } catch let error as StoreError {
                    expectEqual(error.message, "the power is cut")
                    let (_, growth) = try await cluster.store.growth()
                    if growth != nil {
                        let refused = await #expect(throws: StoreError.self) {
                            _ = try await cluster.open().inspector().cluster()
                        }
                        expectEqual(refused?.message.contains("sluice slices grow --to 7"), true)
                        expectTrue(growth?.step != .copying || refused?.message.contains("--abort") == true)
                        _ = try await cluster.division(to: nil).run()
                    } else if try await cluster.store.sliceCount().value == Self.from {
                        _ = try await cluster.division(to: Self.to).run()
                    }
                }
                try await requireGrown(cluster, before)
            }
            calls += step
        }
        expectTrue(calls > 60)
    }

    @Test(arguments: GrowthEngine.allCases) func itIsGivenUpAsLongAsTheClusterHasItsOldSlices(
        _ engine: GrowthEngine
    ) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            let before = try await cluster.realmRows(slices: Self.from)
            await #expect(throws: StoreError.self) {
                _ = try await cluster.division(
                    to: Self.to, in: InterruptedGrowth(cluster.store, calls: 40)
                ).run()
            }
            try await expectEqual(cluster.store.growth().growth?.step, .copying)
            try await cluster.division(to: nil).abort()
            try await expectEqual(cluster.realmRows(slices: Self.from), before)
            try await expectEqual(cluster.open().inspector().slices().count, Self.from)
            try await expectTrue(cluster.store.growth().growth == nil)
            let first = try await cluster.open().store(for: SliceNumber(0), mayMake: false)
            try await expectEqual(first.ownership()?.isReleased, true)
            // Another number, as if nothing had been.
            _ = try await cluster.division(to: Self.to).run()
            try await requireGrown(cluster, before)
        }
    }

    @Test(arguments: GrowthEngine.allCases) func aSliceThatAWorkerHasIsLeftToTheWorker(
        _ engine: GrowthEngine
    ) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            let store = try await cluster.open().store(for: SliceNumber(2), mayMake: false)
            _ = try await store.claim(by: "w", now: 9_000, leaseUntil: 20_000, gone: nil)
            let error = await #expect(throws: StoreError.self) { _ = try await cluster.division(to: Self.to).run() }
            expectTrue(error?.code == .unavailable && error?.message.contains("worker w has slice 2") == true)
            try await expectTrue(cluster.store.growth().growth == nil)
            try await expectEqual(store.ownership()?.owner, "w")
        }
    }

    /// A worker of a version that knows nothing of growths may take a slice meanwhile: what it writes is kept.
    @Test(arguments: GrowthEngine.allCases) func workersWritesDuringAGrowthAreNotLost(
        _ engine: GrowthEngine
    ) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            let stores = cluster.open()
            let interfering = InterruptedGrowth(cluster.store, calls: .max) { () throws(StoreError) in
                let store = try await stores.store(for: SliceNumber(0), mayMake: false)
                guard
                    case .owned(let epoch) = try await store.claim(
                        by: "w", now: 1_000, leaseUntil: 2_000, gone: SliceDivision.owner)
                else { throw StoreError(.fenced, "the slice is not to be had") }
                var batch = SliceBatch()
                for realm in Int64(1)...12 {
                    batch.history[HistoryKey(realm: RealmID(realm), generation: 2)] = [
                        Sample.entry(ServerVersion(10 + epoch.value))
                    ]
                }
                try await store.commit(batch, epoch: epoch)
            }
            let error = await #expect(throws: StoreError.self) {
                _ = try await cluster.division(to: Self.to, in: interfering).run()
            }
            expectEqual(error?.code, .fenced)
            try await expectEqual(cluster.store.sliceCount().value, Self.from)
            let before = try await cluster.realmRows(slices: Self.from)
            expectTrue(before.values.contains { $0.count > 20 })
            let report = try await cluster.division(to: nil).run()
            expectTrue(report.isContinued)
            try await requireGrown(cluster, before)
        }
    }

    @Test(arguments: GrowthEngine.allCases) func aCopyThatDiffersIsNotCounted(_ engine: GrowthEngine) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            _ = try? await cluster.division(to: Self.to, in: InterruptedGrowth(cluster.store, calls: 40)).run()
            try await expectEqual(cluster.store.growth().growth?.step, .copying)
            var copied: (slice: SliceNumber, realm: RealmID)?
            for slice in Self.from..<Self.to where copied == nil {
                let realm = try await cluster.store.realms(in: SliceNumber(slice), after: nil, limit: 1).first
                copied = realm.map { (SliceNumber(slice), $0.id) }
            }
            let (slice, realm) = try #require(copied)
            let damaged = try await cluster.open().store(for: slice, mayMake: false)
            let epoch = try await damaged.take()
            var batch = SliceBatch()
            batch.objects[realm] = [ObjectRow(table: 1, key: .int(1)): [99]]
            try await damaged.commit(batch, epoch: epoch)
            let error = await #expect(throws: StoreError.self) { _ = try await cluster.division(to: nil).run() }
            expectTrue(
                error?.code == .mismatch && error?.message.contains("does not equal what it was copied from") == true)
            try await expectEqual(cluster.store.sliceCount().value, Self.from)
        }
    }

    @Test(arguments: GrowthEngine.allCases) func impossibleGrowthsAreRefused(_ engine: GrowthEngine) async throws {
        try await engine.withCluster(slices: Self.from) { cluster in
            for to in [1, 3] {
                let error = await #expect(throws: StoreError.self) { _ = try await cluster.division(to: to) }
                expectEqual(error?.code, .mismatch)
            }
            await #expect(throws: StoreError.self) { _ = try await cluster.division(to: nil) }
            _ = try? await cluster.division(to: Self.to, in: InterruptedGrowth(cluster.store, calls: 40)).run()
            let other = await #expect(throws: StoreError.self) { _ = try await cluster.division(to: 12) }
            expectEqual(other?.message.contains("from 3 to 7"), true)
        }
    }
}
