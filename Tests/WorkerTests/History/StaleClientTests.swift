import AMQP
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// Clients that come back after long: what they conflict with is found and nothing else is read.
@Suite(.hangGuard) struct StaleClientTests {
    /// A realm with objects 1 to 10 and many versions that touch others; `b` has seen versions 1 and 2 only.
    private func prepared(
        versions: ClientVersion, on counting: CountingStore
    ) async throws -> (OwnerHarness, a: ClientFileIdent, b: ClientFileIdent) {
        let harness = try await OwnerHarness.make(on: counting)
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1, title: "start")]))
        var follows: ClientVersion = 2
        while follows < versions {
            let changes = (follows..<follows + 500).map { Changes.create(Int64($0.rawValue) + 1_000, title: "other") }
            try await harness.send(harness.upload(a, follows: follows, base: 2, timestamp: 5_000, changes))
            follows += 500
        }
        try await harness.send(
            harness.upload(a, follows: follows, base: 2, timestamp: 9_000, [Changes.set(1, title: "newer")]))
        return (harness, a, b)
    }

    @Test func aClientTenThousandVersionsBehindReadsOnlyItsConflicts() async throws {
        let counting = CountingStore()
        let (harness, _, b) = try await prepared(versions: 10_000, on: counting)
        // A new owner: nothing is in memory.
        let second = try await OwnerHarness.make(on: counting)
        counting.historyRead.withLock { $0 = 0 }
        let notice = try await second.send([
            AMQPMessage(second.upload(b, session: 2, base: 2, timestamp: 1_000, [Changes.set(1, title: "older")])),
            AMQPMessage(
                second.upload(
                    b, session: 2, follows: 1, base: 2, timestamp: 9_500, [Changes.set(1, title: "newest")])),
        ]).one(IntegratedNotice.self)
        expectEqual(notice.entries.map(\.changeset.isEmpty), [true, false])
        try await expectEqual(harness.titles()[1], "newest")
        expectEqual(counting.historyRead.withLock { $0 }, 1)
        // The second upload has discarded what the first had left of a's.
        let key = ClientFileKey(realm: RealmID(1), ident: b.ident)
        try await expectEqual(harness.store.reciprocals(of: key, after: 0, maxBytes: .max)?.count, 1)
    }

    @Test func aHistoryWithoutDigestsIsMergedWithAllOfIt() async throws {
        let counting = CountingStore()
        let (harness, _, b) = try await prepared(versions: 1_000, on: counting)
        counting.hidesDigests.withLock { $0 = true }
        let second = try await OwnerHarness.make(on: counting)
        try await second.send(second.upload(b, session: 2, base: 2, timestamp: 1_000, [Changes.set(1, title: "older")]))
        try await expectEqual(harness.titles()[1], "newer")
        expectTrue(counting.historyRead.withLock { $0 } > 1_000)
    }

    @Test func manySmallCommitsLeaveFewDigests() async throws {
        let counting = CountingStore()
        let harness = try await OwnerHarness.make(on: counting)
        let a = try await harness.join(session: 1)
        try await harness.send(harness.upload(a, [Changes.schema()]))
        for version in 1..<300 as Range<ClientVersion> {
            try await harness.send(harness.upload(a, follows: version, [Changes.create(Int64(version.rawValue))]))
        }
        let key = HistoryKey(realm: RealmID(1), generation: 1)
        let digests = try await harness.store.historyDigests(of: key, after: 0, maxBytes: .max)
        expectEqual(digests.count, 1)
        expectEqual(digests.last?.through, 300)
        expectEqual(digests.first?.after, 0)
    }
}
