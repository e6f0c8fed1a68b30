import AMQP
import Messages
import Operations
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// A store that cannot be used for long costs time and nothing else.
@Suite(.needsBroker, .hangGuard) struct StoreOutageTests {
    /// More often than the broker delivers a message.
    private static let tries = 30

    @Test func messagesArrivingDuringAStoreOutageAreHandledAfterwards() async throws {
        let store = CountingStore()
        try await Cluster.with(slices: 1, stores: [store]) { cluster in
            var limits = WorkerLimits()
            limits.maxStorePause = .milliseconds(20)
            let first = try cluster.startWorker("a", limits: limits)
            let (file, _) = try await cluster.join(session: 1)
            try await first.stop()

            // Before the slice is taken.
            store.isAway.withLock { $0 = true }
            for number in 0..<UInt64(10) {
                try await cluster.send(
                    cluster.upload(
                        file, follows: ClientVersion(number),
                        [number == 0 ? Changes.schema() : Changes.create(Int64(number))]))
            }
            let readiness = Readiness()
            let second = try cluster.startWorker("b", readiness: readiness, limits: limits)
            try await outlast(store)
            try await saysThatTheStoreIsAway(readiness)
            store.isAway.withLock { $0 = false }
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 10 }

            // While it is owned.
            store.isAway.withLock { $0 = true }
            try await cluster.send(cluster.upload(file, follows: 10, [Changes.create(10)]))
            try await cluster.send(
                TerminationMessage(app: Cluster.app, campaign: "c-1", generation: 2, reason: nil))
            try await outlast(store)
            store.isAway.withLock { $0 = false }
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 11 }
            let found = try await cluster.next(FoundReport.self)
            expectEqual(found.clientRealms.map(\.clientFile), [file.ident])
            expectEqual(cluster.deadLetters, 0)

            // A worker that is told to stop meanwhile gives back what it holds.
            store.isAway.withLock { $0 = true }
            try await cluster.send(
                TerminationMessage(app: Cluster.app, campaign: "c-2", generation: 3, reason: nil))
            try await outlast(store)
            try await second.stop()
            store.isAway.withLock { $0 = false }
            let third = try cluster.startWorker("c", limits: limits)
            _ = try await cluster.next(FoundReport.self) { $0.campaign == "c-2" }
            expectEqual(cluster.deadLetters, 0)
            try await third.stop()
        }
    }

    @Test func aSliceThatOthersServeAfterTheOutageTroublesNobody() async throws {
        let store = CountingStore()
        try await Cluster.with(slices: 1, stores: [store]) { cluster in
            var limits = WorkerLimits()
            limits.maxStorePause = .milliseconds(20)
            let names = Rendezvous.ranking(of: ["a", "b", "c"], for: cluster.slice)
            let states = names.map { _ in Readiness() }
            func start(_ index: Int) throws -> Cluster.RunningWorker {
                try cluster.startWorker(names[index], readiness: states[index], limits: limits)
            }
            // The one that nobody wants once the others are there.
            let last = try start(2)
            let (file, _) = try await cluster.join(session: 1)
            store.isAway.withLock { $0 = true }
            try await cluster.send(cluster.upload(file, [Changes.schema()]))
            try await saysThatTheStoreIsAway(states[2])
            try await store.seize(from: names[2], by: "z", until: 2)
            let others = [try start(0), try start(1)]
            while !others.indices.contains(where: { isAway(states[$0]) }) {
                // The claims of the others may have gone to the last worker, which has its hands full.
                try await cluster.send(TickMessage(at: 1))
                try await Task.sleep(for: .milliseconds(200))
            }
            store.isAway.withLock { $0 = false }
            _ = try await cluster.next(IntegratedNotice.self) { $0.latest.version == 1 }
            for state in states {
                while !state.isReady { try await Task.sleep(for: .milliseconds(20)) }
            }
            for worker in others + [last] { try await worker.stop() }
        }
    }

    @Test func workersWaitingForAnothersLeaseAfterAnOutageAreReady() async throws {
        let store = CountingStore()
        try await Cluster.with(slices: 1, stores: [store]) { cluster in
            var limits = WorkerLimits()
            limits.maxStorePause = .milliseconds(20)
            // A worker that lives, and has the slice for long.
            try await cluster.channel.declareQueue(
                AMQPQueueDeclaration(name: cluster.topology.workerAlive("z"), durable: false, exclusive: true))
            try await store.seize(from: nil, by: "z", until: .max)
            store.isAway.withLock { $0 = true }
            let readiness = Readiness()
            let worker = try cluster.startWorker("a", readiness: readiness, limits: limits)
            try await saysThatTheStoreIsAway(readiness)
            store.isAway.withLock { $0 = false }
            while !readiness.isReady { try await Task.sleep(for: .milliseconds(20)) }
            try await expectEqual(store.ownership()?.owner, "z")
            try await worker.stop()
        }
    }

    private func isAway(_ readiness: Readiness) -> Bool {
        readiness.components.contains { !$0.ready && $0.reason.contains("the store is away") }
    }

    private func saysThatTheStoreIsAway(_ readiness: Readiness) async throws {
        while !isAway(readiness) { try await Task.sleep(for: .milliseconds(20)) }
    }

    private func outlast(_ store: CountingStore) async throws {
        let before = store.refusals.withLock { $0 }
        while store.refusals.withLock({ $0 }) < before + Self.tries { try await Task.sleep(for: .milliseconds(10)) }
    }
}

@Suite(.hangGuard) struct DamagedStoreTests {
    @Test func aRealmThatTheStoreCannotReadCondemnsItsMessagesOnly() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let file = try await harness.join(session: 1)
        let damaged = RealmName(app: OwnerHarness.app, partition: "\"broken\"")
        store.damaged.withLock { $0 = damaged }
        let event = ChangesetMessage(
            realm: damaged, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())])
        let published = try await harness.send([
            AMQPMessage(harness.upload(file, [Changes.schema()])), AMQPMessage(event),
            AMQPMessage(harness.upload(file, follows: 1, [Changes.create(1, title: "fine")])),
        ])
        let letter = try #require(published.dead.first)
        expectEqual(published.dead.count, 1)
        expectEqual(letter.properties.headers[DeadLetter.reasonHeader]?.stringValue?.contains("damaged"), true)
        try await expectEqual(harness.titles(), [1: "fine"])
    }

    @Test func aTickPassesOverDamageAndDoesTheRest() async throws {
        let store = CountingStore()
        var limits = WorkerLimits()
        limits.compaction.minVersions = 2
        limits.compaction.minBytes = 0
        let harness = try await OwnerHarness.make(limits: limits, on: store)
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
        let other = RealmName(app: OwnerHarness.app, partition: "\"other\"")
        try await harness.send(
            ChangesetMessage(
                realm: other, upload: nil,
                entries: [Changes.schema(), Changes.create(1)].map { .init(timestamp: 1, changeset: $0) }))

        var batch = SliceBatch()
        batch.resetCases = [
            ResetCaseRecord(
                realm: RealmID(1), identOld: file.ident, user: "u", isOpen: true, dueAt: 1, body: Array("{".utf8))
        ]
        try await store.commit(batch, epoch: harness.owner.epoch)
        store.damagedHistory.withLock { $0 = RealmID(1) }
        let published = try await harness.send(TickMessage(at: harness.time.now()))
        await harness.owner.finishWriting()
        expectTrue(published.dead.isEmpty)
        try expectEqual(published.every(GenerationNotice.self).map(\.app), [OwnerHarness.app])
        // The realm after the damaged one has its base, and the case does not come up again.
        try await expectEqual(store.bases(of: RealmID(2)).map(\.isComplete), [true])
        try await expectTrue(store.dueResetCases(at: .max, limit: 10).isEmpty)
    }
}

extension Cluster {
    /// What was heard that only the dead letters' queue holds.
    fileprivate var deadLetters: Int {
        heard.withLock { heard in
            heard.count { [ChangesetMessage.type, TerminationMessage.type].contains($0.properties.type ?? "") }
        }
    }
}
