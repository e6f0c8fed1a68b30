import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// What a tick costs in a slice of many apps.
@Suite(.hangGuard) struct TickTests {
    @Test func aTickCostsNoMoreForAppsThatAreStill() async throws {
        let apps = 200
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        var batch = SliceBatch()
        for index in 0..<apps {
            let id = "app-\(1000 + index)"
            try await harness.control.insert(AppRecord(id: id, createdAt: 0))
            batch.terminations.append(AppGenerationRecord(app: id, generation: 1, campaign: nil, at: 1))
        }
        try await store.commit(batch, epoch: harness.owner.epoch)
        var told: Set<String> = []
        for _ in 0..<(apps / Ticks.appsAtOnce) {
            let before = store.agendaCalls.withLock { $0 }
            let notices = try await harness.send(TickMessage(at: harness.time.now())).every(GenerationNotice.self)
            // Each app whose turn it is, the terminations, the page, and the reset cases.
            expectTrue(store.agendaCalls.withLock { $0 } - before <= Ticks.appsAtOnce + 4)
            expectEqual(notices.count, Ticks.appsAtOnce)
            told.formUnion(notices.map(\.app))
        }
        // The apps have all had their turn; then the round begins anew.
        expectEqual(told.count, apps)
        _ = try await harness.send(TickMessage(at: harness.time.now()))
        let again = try await harness.send(TickMessage(at: harness.time.now())).every(GenerationNotice.self)
        expectTrue(again.contains { $0.app == "app-1000" })
    }

    /// What expires after days is not looked for with every tick, but each time as far as there is some left.
    @Test func idleClientFilesAreLookedForNowAndThen() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let app = "app-1"
        try await harness.control.insert(AppRecord(id: app, maxOfflineDays: 1, createdAt: 0))
        var batch = SliceBatch()
        batch.terminations.append(AppGenerationRecord(app: app, generation: 1, campaign: nil, at: 1))
        try await store.commit(batch, epoch: harness.owner.epoch)
        func looks() async throws -> Int {
            let before = store.agendaCalls.withLock { $0 }
            try await harness.send(TickMessage(at: harness.time.now()))
            return store.agendaCalls.withLock { $0 } - before
        }
        let first = try await looks()
        let second = try await looks()
        expectEqual(second, first - 1)
        harness.time.advance(IdleLooks.interval)
        try await expectEqual(looks(), first)
    }

    /// Room goes back to the file system in commits of bounded size, between which others have their turn.
    @Test func roomIsGivenBackInSteps() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let bite = WorkerLimits().compaction.reclaimedPerStep
        store.space.withLock { $0 = 5 * bite }
        try await harness.send(TickMessage(at: harness.time.now()))
        expectEqual(store.space.withLock { $0 }, 4 * bite)
        var steps = 0
        while await harness.owner.hasJobs, steps < 100 {
            let before = store.space.withLock { $0 }
            _ = try await harness.owner.goOnWithJobs(for: .zero)
            expectTrue(before - store.space.withLock { $0 } <= bite)
            steps += 1
        }
        expectTrue(steps == 5 && store.space.withLock { $0 } == 0, "\(steps)")
    }

    @Test func aTerminationIsSaidWithEveryTickForAnHour() async throws {
        let harness = try await OwnerHarness.make(on: CountingStore())
        var batch = SliceBatch()
        for index in 0..<100 {
            batch.terminations.append(
                AppGenerationRecord(app: "app-\(1000 + index)", generation: 1, campaign: nil, at: harness.time.now()))
        }
        batch.terminations.append(
            AppGenerationRecord(app: "zebra", generation: 2, campaign: "c", at: harness.time.now()))
        try await harness.store.commit(batch, epoch: harness.owner.epoch)
        func zebras() async throws -> [GenerationNotice] {
            try await harness.send(TickMessage(at: harness.time.now())).every(GenerationNotice.self)
                .filter { $0.app == "zebra" }
        }
        for _ in 0..<7 {
            let said = try await zebras()
            expectTrue(said.map(\.generation) == [2] && said.first?.campaign == "c")
        }
        harness.time.advance(3_700_000)
        var count = 0
        for _ in 0..<6 { count += try await zebras().count }
        expectEqual(count, 1)
    }
}
