import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ConcurrentUploadTests {
    private func prepared(
        _ limits: WorkerLimits = WorkerLimits()
    ) async throws -> (OwnerHarness, a: ClientFileIdent, b: ClientFileIdent) {
        let harness = try await OwnerHarness.make(limits: limits)
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1, title: "start")]))
        return (harness, a, b)
    }

    @Test func theNewerOfTwoConcurrentWritesWins() async throws {
        let (harness, a, b) = try await prepared()
        try await harness.send(
            harness.upload(a, follows: 2, base: 2, timestamp: 9_000, [Changes.set(1, title: "newer")]))
        let notice = try await harness.send(
            harness.upload(b, session: 2, base: 2, timestamp: 5_000, [Changes.set(1, title: "older")])
        ).one(IntegratedNotice.self)
        try await expectEqual(harness.titles(), [1: "newer"])
        // The version exists although the merge left nothing of it.
        expectEqual(notice.latest.version, 4)
        expectEqual(notice.entries.map(\.changeset), [[]])
    }

    @Test func laterUploadsMeetTheHistoryAsEarlierOnesLeftIt() async throws {
        let (harness, a, b) = try await prepared()
        try await harness.send([
            AMQPMessage(
                harness.upload(a, follows: 2, base: 2, timestamp: 9_000, [Changes.insertTag(1, "a", at: 0, of: 0)])),
            AMQPMessage(
                harness.upload(b, session: 2, base: 2, timestamp: 5_000, [Changes.insertTag(1, "b", at: 0, of: 0)])),
        ])
        // b has still not seen a's tag: its second insert is after its own first one.
        let notice = try await harness.send(
            harness.upload(
                b, session: 2, follows: 1, base: 2, timestamp: 5_001, [Changes.insertTag(1, "bb", at: 1, of: 1)])
        ).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 5)
        let key = ClientFileKey(realm: RealmID(1), ident: b.ident)
        try await expectEqual(harness.store.reciprocals(of: key, after: 2, maxBytes: .max)?.keys.sorted(), [3])
    }

    @Test func reciprocalsGoWhenTheClientHasSeenTheirVersions() async throws {
        let (harness, a, b) = try await prepared()
        try await harness.send(
            harness.upload(a, follows: 2, base: 2, timestamp: 9_000, [Changes.insertTag(1, "a", at: 0, of: 0)]))
        try await harness.send(
            harness.upload(b, session: 2, base: 2, timestamp: 5_000, [Changes.insertTag(1, "b", at: 0, of: 0)]))
        try await harness.send(
            harness.upload(b, session: 2, follows: 1, base: 4, timestamp: 5_000, [Changes.set(1, title: "b")]))
        let key = ClientFileKey(realm: RealmID(1), ident: b.ident)
        try await expectEqual(harness.store.reciprocals(of: key, after: 0, maxBytes: .max)?.isEmpty, true)
        try await expectEqual(harness.store.clientFile(key)?.upload, UploadCursor(clientVersion: 2, serverVersion: 4))
    }

    @Test func aMergeInManyStepsEqualsOneStep() async throws {
        var limits = WorkerLimits()
        limits.maxWindowBytes = 1
        limits.maxRecentHistoryBytes = 0
        var results: [[Int64: String]] = []
        for limits in [WorkerLimits(), limits] {
            let (harness, a, b) = try await prepared(limits)
            for index in 0..<10 as Range<UInt64> {
                try await harness.send(
                    harness.upload(
                        a, follows: ClientVersion(2 + index), base: ServerVersion(2 + index),
                        timestamp: SyncTimestamp(5_000 + index * 10),
                        [Changes.set(1, title: "a\(index)")]))
            }
            try await harness.send(
                harness.upload(
                    b, session: 2, base: 2, timestamp: 5_045,
                    [
                        Changes.set(1, title: "b"), Changes.create(2, title: "b2"),
                        Changes.insertTag(1, "b", at: 0, of: 0),
                    ]))
            results.append(try await harness.titles())
        }
        expectEqual(results[0], [1: "a9", 2: "b2"])
        expectEqual(results[0], results[1])
    }

    @Test func aNewOwnerMergesWhatTheOldOneLeft() async throws {
        let (harness, a, b) = try await prepared()
        try await harness.send(
            harness.upload(a, follows: 2, base: 2, timestamp: 9_000, [Changes.insertTag(1, "a", at: 0, of: 0)]))
        try await harness.send(
            harness.upload(b, session: 2, base: 2, timestamp: 5_000, [Changes.insertTag(1, "b", at: 0, of: 0)]))
        let second = try await OwnerHarness.make(on: harness.store)
        let notice = try await second.send(
            second.upload(
                b, session: 2, follows: 1, base: 2, timestamp: 5_001, [Changes.insertTag(1, "bb", at: 1, of: 1)])
        ).one(IntegratedNotice.self)
        expectEqual(notice.follows, 4)
        expectEqual(notice.latest.version, 5)
        expectEqual(notice.entries.first?.changeset.isEmpty, false)
    }
}
