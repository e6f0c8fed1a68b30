import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Restarts of realms that are too large for one message's turn.
@Suite(.hangGuard) struct RestartStepsTests {
    private static let objects: Int64 = 40

    private static var limits: WorkerLimits {
        var limits = WorkerLimits()
        limits.restart.stepsAtOnce = 2
        limits.restart.pageBytes = 200
        limits.compaction.versionsPerStep = 5
        return limits
    }

    /// A realm with a history of its own, whose app was terminated.
    private func terminated(on store: (any SliceStore)? = nil) async throws -> OwnerHarness {
        let harness = try await OwnerHarness.make(limits: Self.limits, on: store)
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema()]))
        for key in 1...Self.objects {
            let follows = ClientVersion(UInt64(key))
            try await harness.send(
                harness.upload(old, follows: follows, base: 1, [Changes.create(key, title: "title \(key)")]))
        }
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        return harness
    }

    private func titles() -> [Int64: String] {
        Dictionary(uniqueKeysWithValues: (1...Self.objects).map { ($0, "title \($0)") })
    }

    @Test func newClientsWaitForTheRestartWhileOthersAreServed() async throws {
        let harness = try await terminated()
        let digest = try await harness.digest()
        let early = try await harness.send(harness.bindRequest(session: 2)).one(RefusedAnswer.self)
        expectTrue(early.code == .initialSyncNotCompleted && early.action == .transient && early.tryAgain)
        expectEqual(early.backoff?.intervalSeconds, 1)
        expectTrue(early.message.contains("is being made ready"))
        var steps = 0
        var other = harness.bindRequest(session: 50)
        other.context.realm = RealmName(app: OwnerHarness.app, partition: "\"other\"")
        _ = try await harness.send(other).one(BoundAnswer.self)
        while try await harness.record().generation == 1 {
            _ = try await harness.owner.goOnWithJobs(for: .zero)
            steps += 1
            // A client that asks again neither hurries the restart nor sets it back.
            if steps % 3 == 0 {
                let again = try await harness.send(harness.bindRequest(session: 2 + UInt64(steps)))
                if try await harness.record().generation == 1 { _ = try again.one(RefusedAnswer.self) }
            }
        }
        expectTrue(steps > 15)
        try await expectEqual(harness.digest(), digest)
        let record = try await harness.record()
        expectTrue(record.historyBase == 0 && record.generation == 2)
        let key = HistoryKey(realm: record.id, generation: 1)
        try await expectTrue(harness.store.history(of: key, after: 0, through: 99, maxBytes: .max).isEmpty)
        var fresh = SyncingClient(file: try await harness.join(session: 90), session: 90)
        while try await !fresh.download(from: harness, maxBytes: 300, generation: 2) {}
        try await expectEqual(harness.titles(), titles())
    }

    @Test func anEventPublishedByAShellWaitsForTheRestart() async throws {
        let harness = try await terminated()
        let event = ChangesetMessage(
            realm: harness.realm, upload: nil,
            entries: [
                UploadedChangeset(
                    clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: Changes.set(1, title: "published"))
            ])
        let deliveries = await harness.owner.read([
            try .init(event, id: "event"), try .init(TickMessage(at: harness.time.now())),
        ])
        try await expectEqual(harness.owner.deal(with: deliveries).left, [0])
        try await expectTrue(harness.owner.deal(with: Array(deliveries[..<1])).isIdle)
        try await harness.finishJobs()
        try await expectTrue(harness.owner.deal(with: Array(deliveries[..<1])).left.isEmpty)
        var expected = titles()
        expected[1] = "published"
        try await expectEqual(harness.titles(), expected)
        try await expectEqual(harness.record().generation, 2)
    }

    @Test func itBeginsAgainWithTheNextOwnerAndLeavesNothingBehind() async throws {
        let store = CountingStore()
        var harness = try await terminated(on: store)
        for steps in 0..<30 {
            _ = try? await harness.send(harness.bindRequest(session: 100 + UInt64(steps)))
            for _ in 0..<steps where try await harness.record().generation == 1 {
                _ = try await harness.owner.goOnWithJobs(for: .zero)
            }
            guard try await harness.record().generation == 1 else { break }
            if steps == 4 {
                // A further termination: what was begun for the one before is of no use.
                try await harness.send(
                    TerminationMessage(app: OwnerHarness.app, campaign: "c-2", generation: 3, reason: nil))
            }
            harness = try await OwnerHarness.make(limits: Self.limits, on: store, control: harness.control)
        }
        let record = try await harness.record()
        expectEqual(record.generation, 3)
        for generation in [1, 2] as [UInt64] {
            let key = HistoryKey(realm: record.id, generation: generation)
            try await expectTrue(store.history(of: key, after: 0, through: 999, maxBytes: .max).isEmpty)
            try await expectTrue(store.historyDigests(of: key, after: 0, maxBytes: .max).isEmpty)
        }
        try await expectEqual(harness.titles(), titles())
        let history = try await store.history(
            of: HistoryKey(realm: record.id, generation: 3), after: 0, through: 999, maxBytes: .max)
        expectEqual(history.map(\.version), (1...record.latest.version.rawValue).map { ServerVersion($0) })
    }

    @Test func aRealmThatGoesMeanwhileIsNotBroughtBack() async throws {
        let harness = try await terminated()
        _ = try await harness.send(harness.bindRequest(session: 2)).one(RefusedAnswer.self)
        try await harness.send(EraseMessage(realm: harness.realm, campaign: "e-1", reason: nil))
        try await harness.finishJobs()
        try await expectTrue(harness.store.realm(harness.realm) == nil)
    }
}
