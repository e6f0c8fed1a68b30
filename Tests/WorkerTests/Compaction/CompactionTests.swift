import AMQP
import Changesets
import Merge
import MergeConformance
import Messages
import RealmState
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct CompactionTests {
    /// A realm of objects 1 to 10, each set many times over, by a client that has all of it and has said so.
    private func prepared(
        limits: WorkerLimits = OwnerHarness.eager, versions: Int = 60, on store: (any SliceStore)? = nil
    ) async throws -> (OwnerHarness, SyncingClient) {
        let harness = try await OwnerHarness.make(limits: limits, on: store)
        var author = SyncingClient(file: try await harness.join(session: 1), session: 1)
        try author.make(Changes.schema(), at: 1)
        for key in 1...10 as ClosedRange<Int64> { try author.make(Changes.create(key, title: "t\(key)"), at: 2) }
        try await author.settle(with: harness)
        try await write(versions - 11, by: &author, to: harness)
        return (harness, author)
    }

    private func write(_ versions: Int, by author: inout SyncingClient, to harness: OwnerHarness) async throws {
        for number in 0..<versions {
            try author.make(
                Changes.set(Int64(number % 10) + 1, title: "v\(number)"), at: SyncTimestamp(100 + UInt64(number)))
        }
        try await author.settle(with: harness)
    }

    private func bases(_ harness: OwnerHarness) async throws -> [BaseRecord] {
        try await harness.store.bases(of: harness.record().id)
    }

    @Test func passedHistoryIsDroppedAndNewClientsStartFromState() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        try await harness.tick()
        try await harness.tick()
        let base = try #require(try await bases(harness).first)
        expectTrue(base.isComplete && base.version == 60 && base.entries < 60)
        try await expectEqual(harness.record().historyBase, 59)
        let key = try await HistoryKey(realm: harness.record().id, generation: 1)
        try await expectEqual(
            harness.store.history(of: key, after: 0, through: 1_000, maxBytes: .max).map(\.version), [60])

        var client = SyncingClient(file: try await harness.join(session: 2), session: 2)
        var pages = 0
        while try await !client.download(from: harness, maxBytes: 1) { pages += 1 }
        expectEqual(pages, Int(base.entries) - 1)
        expectTrue(client.cursor == 60 && client.digest == author.digest)
        // The new client goes on like everybody else.
        try client.make(Changes.set(3, title: "by the new one"), at: 10_000)
        try await client.settle(with: harness)
        try await author.settle(with: harness)
        expectEqual(author.digest, client.digest)
        try await expectEqual(harness.titles()[3], "by the new one")
    }

    @Test func downloadableBytesFallToNothing() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        try await harness.tick()
        try await write(5, by: &author, to: harness)
        let file = try await harness.join(session: 2)
        var after = DownloadCursor()
        var previous = UInt64.max
        while true {
            let page = try await harness.page(file, session: 2, after: after, maxBytes: 1).one(PageAnswer.self)
            expectTrue(page.downloadableBytes < previous)
            previous = page.downloadableBytes
            after = page.download
            if page.isComplete { break }
        }
        expectEqual(previous, 0)
    }

    @Test func aClientThatIsAwayHoldsTheHistoryAndMergesWhenItIsBack() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        var away = try await harness.fresh(session: 2)
        try await away.settle(with: harness)
        expectEqual(away.cursor, 60)
        try away.make(Changes.set(1, title: "offline"), at: 50_000)
        try await write(40, by: &author, to: harness)
        try await harness.tick()
        try await harness.tick()
        try await expectEqual(harness.record().historyBase, 59)
        try await expectEqual(bases(harness).map(\.version), [100])

        var back = away
        try await back.connect(to: harness, session: 3)
        try await back.settle(with: harness)
        try await author.settle(with: harness)
        expectEqual(back.digest, author.digest)
        try await expectEqual(harness.titles()[1], "offline")
    }

    @Test func anExpiredClientIsToldAndItsHistoryGoes() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        try await expectEqual(harness.control.app(OwnerHarness.app)?.maxOfflineDays, 30)
        var away = try await harness.fresh(session: 2)
        try await away.settle(with: harness)
        harness.time.advance(31 * 86_400_000)
        try await write(40, by: &author, to: harness)
        try await harness.tick()
        try await harness.tick()
        try await expectEqual(harness.record().historyBase, 99)
        let cursor = DownloadCursor(serverVersion: away.cursor, clientVersion: 0)
        let latest = SaltedServerVersion(version: away.cursor, salt: away.progress.latest.salt)
        for (attempt, code) in ([222, 208] as [ErrorCode]).enumerated() {
            let published = try await harness.identify(
                away.file, session: 5 + UInt64(attempt), download: cursor, latest: latest)
            let refused = try published.one(RefusedAnswer.self)
            expectTrue(refused.code == code && refused.action == "ClientReset" && !refused.tryAgain)
            expectTrue(refused.campaign != nil)
            // The client file is accounted for once.
            try expectEqual(published.every(FoundReport.self).count, (attempt == 0 ? 1 : 0))
        }
    }

    @Test func aBaseStaysAsLongAsAClientIsWithinIt() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        try await harness.tick()
        var reader = SyncingClient(file: try await harness.join(session: 2), session: 2)
        try await reader.download(from: harness, maxBytes: 1)
        expectEqual(reader.cursor, 1)
        for _ in 0..<2 {
            try await write(20, by: &author, to: harness)
            try await harness.tick()
            try await harness.tick()
        }
        try await expectEqual(bases(harness).map(\.version), [60, 100])
        try await expectEqual(harness.record().historyBase, 59)
        // The reader loses its connection, and goes on where it was.
        try await reader.connect(to: harness, session: 3)
        while try await !reader.download(from: harness, maxBytes: 1) {}
        try await reader.settle(with: harness)
        expectEqual(reader.digest, author.digest)
        try await harness.tick()
        try await expectEqual(bases(harness).map(\.version), [100])
        try await expectEqual(harness.record().historyBase, 99)
    }

    @Test func uploadsWhileReadingTheBaseMergeWithItsRestOnly() async throws {
        let counting = CountingStore()
        let (harness, writer) = try await prepared(on: counting)
        var author = writer
        try await harness.tick()
        var reader = SyncingClient(file: try await harness.join(session: 2), session: 2)
        // The schema is there; the objects are not.
        try await reader.download(from: harness, maxBytes: 1)
        try reader.make(Changes.create(7, title: "mine"), at: 60_000)
        try reader.make(Changes.create(77, title: "mine too"), at: 60_001)
        counting.historyRead.withLock { $0 = 0 }
        let message = reader.upload(in: harness.realm)
        try await harness.send(try #require(message))
        // An object's creation and its values may be in two.
        expectTrue((1...2).contains(counting.historyRead.withLock { $0 }))
        while try await !reader.download(from: harness, maxBytes: 1) {}
        try await reader.settle(with: harness)
        try await author.settle(with: harness)
        expectEqual(reader.digest, author.digest)
        try await expectEqual(harness.digest(), author.digest)
        try await expectEqual(harness.titles()[7], "mine")
    }

    @Test func aDownloadBelowTheHistoryIsRefusedAsExpired() async throws {
        let (harness, author) = try await prepared()
        try await harness.tick()
        try await harness.tick()
        // Nothing holds the history for a client file whose row says that it began there; a damaged store would say so.
        let key = try await ClientFileKey(realm: harness.record().id, ident: try await harness.join(session: 2).ident)
        var file = try #require(try await harness.store.clientFile(key))
        file.historyStart = 0
        var batch = SliceBatch()
        batch.clientFiles = [file]
        try await harness.store.commit(batch, epoch: harness.owner.epoch)
        let second = try await OwnerHarness.make(limits: OwnerHarness.eager, on: harness.store)
        // A page may have been asked for long ago.
        let uncertain = try await second.page(file.file, session: 2).one(RefusedAnswer.self)
        expectTrue(uncertain.code == 201 && uncertain.tryAgain)
        _ = try await second.send(second.bindRequest(session: 3, needsIdent: false)).one(BoundAnswer.self)
        let refused = try await second.identify(
            file.file, session: 3, download: DownloadCursor(serverVersion: 1, clientVersion: 0)
        ).one(RefusedAnswer.self)
        expectTrue(refused.code == 222 && refused.action == "ClientReset")
        expectEqual(author.cursor, 60)
    }

    @Test func aPageAskedForAgainAfterTheSessionHasGoneOnIsNoReset() async throws {
        let (harness, writer) = try await prepared()
        var author = writer
        var reader = try await harness.fresh(session: 2)
        try await reader.settle(with: harness)
        let asked = DownloadCursor(serverVersion: reader.cursor, clientVersion: 0)
        _ = try await harness.page(reader.file, session: 2, after: asked).one(PageAnswer.self)
        try await write(40, by: &author, to: harness)
        // In a session of its own, as pages are how it hears of things here; what matters is that the first asks no more.
        try await reader.connect(to: harness, session: 3)
        try await reader.settle(with: harness)
        try reader.make(Changes.create(8, title: "mine"), at: 60_000)
        try await reader.settle(with: harness)
        try await author.settle(with: harness)
        try await write(1, by: &author, to: harness)
        for _ in 0..<3 { try await harness.tick() }
        try await expectTrue(harness.record().historyBase > asked.serverVersion)
        let late = try await harness.page(reader.file, session: 2, after: asked)
        let refused = try late.one(RefusedAnswer.self)
        expectTrue(refused.code == 201 && refused.tryAgain)
        try expectTrue(late.every(FoundReport.self).isEmpty)
        try reader.make(Changes.create(9, title: "mine, too"), at: 60_001)
        try await reader.settle(with: harness)
        try await expectEqual(harness.titles()[9], "mine, too")
    }

    @Test func aPageThatWasAskedForBeforeIsNotGivenAgain() async throws {
        let (harness, _) = try await prepared()
        try await harness.tick()
        try await harness.tick()
        let file = try await harness.join(session: 2)
        _ = try await harness.page(file, session: 2).one(PageAnswer.self)
        let latest = try await harness.record().latest.version
        let cursor = DownloadCursor(serverVersion: latest, clientVersion: 0)
        _ = try await harness.page(file, session: 2, after: cursor).one(PageAnswer.self)
        // The session has gone on since.
        try await expectTrue(harness.page(file, session: 2).all.isEmpty)
    }

    @Test func aNewGenerationDropsTheBasesOfTheOld() async throws {
        let (harness, author) = try await prepared()
        try await harness.tick()
        try await expectEqual(bases(harness).count, 1)
        try await harness.send(
            TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        let expected = author.digest
        let file = try await harness.join(session: 2)
        try await harness.tick()
        try await expectTrue(bases(harness).allSatisfy { $0.generation == 2 })
        try await expectEqual(harness.digest(), expected)
        let page = try await harness.page(file, session: 2, generation: 2).one(PageAnswer.self)
        var state = RealmState()
        for entry in page.entries { try state.apply(Changeset(parsing: entry.changeset)) }
        expectTrue(page.isComplete && StateDump.digest(of: state) == expected)
    }

    /// The owner dies at every commit in turn; whoever comes next finds the realm whole and ends the work.
    @Test(arguments: 0..<24) func aDeathAtAnyStepLeavesTheRealmWhole(step: Int) async throws {
        let counting = CountingStore()
        let (first, writer) = try await prepared(on: counting)
        var (harness, author) = (first, writer)
        try await harness.tick()
        var reader = SyncingClient(file: try await harness.join(session: 2), session: 2)
        try await reader.download(from: harness, maxBytes: 1)
        try await write(30, by: &author, to: harness)

        counting.commitsLeft.withLock { $0 = step }
        for _ in 0..<3 { try? await harness.tick() }
        counting.commitsLeft.withLock { $0 = nil }

        harness = try await OwnerHarness.make(limits: OwnerHarness.eager, on: counting)
        let early = try await harness.fresh(session: 3, maxBytes: 1)
        expectEqual(early.digest, author.digest)
        try await reader.connect(to: harness, session: 4)
        try await reader.settle(with: harness)
        expectEqual(reader.digest, author.digest)
        for _ in 0..<3 { try await harness.tick() }
        let late = try await harness.fresh(session: 5, maxBytes: 1)
        expectEqual(late.digest, author.digest)
        try await expectTrue(bases(harness).allSatisfy(\.isComplete))
        try await expectEqual(harness.digest(), author.digest)
    }

    @Test func aShortHistoryIsLeftAlone() async throws {
        let (harness, _) = try await prepared(limits: WorkerLimits())
        for _ in 0..<3 { try await harness.tick() }
        try await expectTrue(bases(harness).isEmpty)
        try await expectEqual(harness.record().historyBase, 0)
    }

    @Test func compactionBeyondTheTimeOfATickIsDoneLater() async throws {
        var limits = OwnerHarness.eager
        limits.compaction.timePerRun = .zero
        let (harness, _) = try await prepared(limits: limits)
        try await harness.tick()
        try await harness.tick()
        try await expectEqual(harness.record().historyBase, 0)
        try await harness.owner.compactFurther(for: .seconds(60))
        try await expectEqual(harness.record().historyBase, 59)
    }
}
