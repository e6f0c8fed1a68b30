import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ErasureTests {
    private func erasure(_ harness: OwnerHarness, campaign: String? = "e-1", reason: String? = nil) -> EraseMessage {
        EraseMessage(realm: harness.realm, campaign: campaign, reason: reason)
    }

    /// A realm with an object, and two client files of different users.
    private func filled(
        _ limits: WorkerLimits = WorkerLimits()
    ) async throws -> (harness: OwnerHarness, a: ClientFileIdent, b: ClientFileIdent) {
        let harness = try await OwnerHarness.make(limits: limits)
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2, user: "v")
        try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1, title: "gone")]))
        return (harness, a, b)
    }

    @Test func nothingIsLeftAndTheClientsAreListedAndTold() async throws {
        let (harness, a, b) = try await filled()
        let id = try await harness.record().id
        let told = try await harness.send(erasure(harness)).one(ResetNotice.self)
        expectTrue(told.partition == harness.realm.partition && told.campaign == "e-1")
        expectTrue(told.identsBelow == FileIdent(b.ident.rawValue + 1) && told.clientFile == nil)
        try await expectTrue(harness.store.realm(harness.realm) == nil)
        let found = try await harness.finishJobs().one(FoundReport.self)
        expectTrue(found.kind == "erasure" && found.campaign == "e-1" && found.chunks == 1)
        expectEqual(found.clientRealms.map(\.clientFile), [a.ident, b.ident])
        expectEqual(found.clientRealms.map(\.user), ["u", "v"])
        try await expectTrue(harness.store.clientFiles(in: id, state: nil, after: 0, limit: 9).isEmpty)
        try await expectTrue(harness.store.objects(in: id, after: nil, maxBytes: 1).isEmpty)
        let key = HistoryKey(realm: id, generation: 1)
        try await expectTrue(harness.store.history(of: key, after: 0, through: 9, maxBytes: 1).isEmpty)
        try await expectTrue(harness.store.unsweptErasures(limit: 1).isEmpty)
    }

    @Test func aUserWhoGoesWithTheRealmDoesNotMakeItAnew() async throws {
        let (harness, a, _) = try await filled()
        let user = AppUser(app: OwnerHarness.app, user: "u")
        var usage = SliceBatch()
        usage.usage = [user: UsageAmounts(realms: 1)]
        usage.usageAt = harness.time.now()
        try await harness.store.commit(usage, epoch: harness.owner.epoch)
        try await harness.send(
            EraseMessage(realm: harness.realm, campaign: "e-1", reason: "user deleted", user: "u"))
        try await harness.finishJobs()
        try await expectTrue(harness.store.usage(of: user) == nil)
        // The user's session was open a moment longer, or another owner hears of the user.
        let next = try await OwnerHarness.make(on: harness.store, control: harness.control)
        for (session, owner) in [(5, harness), (6, next)] as [(UInt64, OwnerHarness)] {
            for needsIdent in [true, false] {
                let refusal = try await owner.send(
                    owner.bindRequest(session: session + (needsIdent ? 10 : 0), needsIdent: needsIdent)
                ).one(RefusedAnswer.self)
                expectTrue(refusal.code == .permissionDenied && !refusal.tryAgain)
            }
        }
        try await expectTrue(harness.store.realm(harness.realm) == nil)
        // Another user may, and then there is a realm that both may open.
        _ = try await next.send(next.bindRequest(session: 30, user: "v")).one(BoundAnswer.self)
        expectEqual(a.ident, 2)
    }

    @Test func returningClientsMustResetOntoTheEmptyRealm() async throws {
        let (harness, a, _) = try await filled()
        try await harness.send(erasure(harness, reason: "moved away"))
        try await harness.finishJobs()
        let refusal = try await harness.rejoin(
            a, session: 5, download: DownloadCursor(serverVersion: 2, clientVersion: 2)
        )
        .one(RefusedAnswer.self)
        expectTrue(refusal.code == .badClientFileIdent && refusal.action == .clientReset)
        expectTrue(refusal.campaign == "e-1" && refusal.clientFile == a.ident && refusal.integrated == nil)
        // Another session of it, another owner: the same.
        let other = try await OwnerHarness.make(on: harness.store, control: harness.control)
        try await expectEqual(other.rejoin(a, session: 6).one(RefusedAnswer.self).campaign, "e-1")
        // What it had on the way when it was told, too.
        let late = try await other.send(
            other.upload(a, session: 7, follows: 2, base: 2, [Changes.set(1, title: "late")]))
        try expectEqual(late.one(RefusedAnswer.self).code, .badClientFileIdent)
        let new = try await other.record().id
        try await expectTrue(other.store.objects(in: new, after: nil, maxBytes: 1).isEmpty)
    }

    /// A session of the old realm would be merged with a copy that it does not have.
    @Test func noSessionTakesTheNewRealmForTheOldOne() async throws {
        let (harness, a, b) = try await filled()
        let old = try await harness.record()
        try await harness.send(erasure(harness))
        let fresh = try await harness.join(session: 9, user: "w")
        let new = try await harness.record()
        expectTrue(fresh.ident > max(a.ident, b.ident))
        let published = try await harness.send(
            harness.upload(fresh, session: 9, [Changes.schema(), Changes.create(2, title: "new")]))
        let notice = try published.one(IntegratedNotice.self)
        expectTrue(notice.follows > old.latest.version && notice.latest.version == notice.follows + 2)
        // The new realm has the classes of the old one: clients could not reset onto a copy without them.
        expectEqual(new.schema, old.schema)
        expectEqual(notice.generation, old.generation)
        expectTrue(new.id != old.id && new.lostIdents == 2..<old.nextIdent)
        try await expectEqual(harness.titles(), [2: "new"])
    }

    @Test func aNewClientDownloadsFromTheEmptyBase() async throws {
        let (harness, _, _) = try await filled()
        try await harness.send(erasure(harness))
        var writer = try await harness.fresh(session: 9)
        try writer.make(Changes.schema(), at: 1)
        try writer.make(Changes.create(2, title: "new"), at: 2)
        try await writer.settle(with: harness)
        try await expectEqual(harness.titles(), [2: "new"])
        let reader = try await harness.fresh(session: 10)
        expectEqual(reader.digest, writer.digest)
    }

    @Test func aRepetitionTakesNothingMore() async throws {
        let (harness, _, _) = try await filled()
        try await harness.send(erasure(harness))
        let fresh = try await harness.join(session: 9)
        try await harness.send(harness.upload(fresh, session: 9, [Changes.schema(), Changes.create(2, title: "new")]))
        try await harness.send(erasure(harness))
        try await harness.finishJobs()
        try await harness.send(erasure(harness))
        try await expectEqual(harness.titles(), [2: "new"])
        // An erasure with another campaign takes the new realm, and knows whose idents are whose.
        try await harness.send(erasure(harness, campaign: "e-2"))
        try await harness.finishJobs()
        try await expectTrue(harness.store.realm(harness.realm) == nil)
        try await expectEqual(harness.rejoin(fresh, session: 11).one(RefusedAnswer.self).campaign, "e-2")
    }

    @Test func aRealmThatIsNotThereIsReportedAsFoundByNobody() async throws {
        let harness = try await OwnerHarness.make()
        let found = try await harness.send(erasure(harness)).one(FoundReport.self)
        expectTrue(found.clientRealms.isEmpty && found.chunks == 1)
    }

    @Test func withoutACampaignOrAnIdItIsSetAside() async throws {
        let harness = try await OwnerHarness.make()
        var other = harness.realm
        other = RealmName(app: "nope", partition: other.partition)
        let dead = try await harness.send(EraseMessage(realm: other, campaign: "e", reason: nil)).dead
        expectEqual(dead.count, 1)
    }

    /// An owner may die after any commit: the next one goes on, and the campaign hears of everybody once.
    @Test func anErasureSurvivesItsOwnersAtEveryStep() async throws {
        var limits = WorkerLimits()
        limits.maxFoundPerReport = 3
        limits.erasure.rowsPerStep = 2
        let store = CountingStore()
        var harness = try await OwnerHarness.make(limits: limits, on: store)
        var files: [ClientFileIdent] = []
        for session in 1...8 as ClosedRange<UInt64> {
            files.append(try await harness.join(session: session, user: "u\(session)", connection: "c\(session)"))
        }
        let schema = harness.upload(files[0], session: 1, [Changes.schema()] + (0..<9).map { Changes.create($0) })
        try await harness.send(schema)
        let id = try await harness.record().id
        var found: [Int: FoundReport] = [:]
        var owners = 0
        try await harness.send(erasure(harness))
        while await harness.owner.hasJobs, owners < 200 {
            store.commitsLeft.withLock { $0 = 1 }
            while let made = try? await harness.owner.goOnWithJobs(for: .zero), await harness.owner.hasJobs {
                for report in try Published(made).every(FoundReport.self) { found[report.chunk] = report }
            }
            store.commitsLeft.withLock { $0 = nil }
            owners += 1
            harness = try await OwnerHarness.make(limits: limits, on: store, control: harness.control)
            // What the one before has not published, as its outbox has it.
            let left = try await harness.send([])
            for report in try left.every(FoundReport.self) { found[report.chunk] = report }
            if try await store.unsweptErasures(limit: 1).isEmpty { break }
        }
        expectTrue(owners > 3)
        expectTrue(found.count == 3 && found.values.allSatisfy { $0.chunks == 3 })
        expectEqual(found.values.flatMap(\.clientRealms).map(\.clientFile).sorted(), files.map(\.ident))
        try await expectTrue(store.objects(in: id, after: nil, maxBytes: 1).isEmpty)
        try await expectTrue(store.clientFiles(in: id, state: nil, after: 0, limit: 1).isEmpty)
    }

    /// Many may come back at once: an operator has asked for it.
    @Test func nobodyIsHeldBack() async throws {
        let harness = try await OwnerHarness.make()
        var files: [ClientFileIdent] = []
        for session in 1...30 as ClosedRange<UInt64> {
            files.append(try await harness.join(session: session, user: "u\(session)", connection: "c\(session)"))
        }
        try await harness.send(erasure(harness))
        try await harness.finishJobs()
        for (index, file) in files.enumerated() {
            let refusal = try await harness.rejoin(file, session: 100 + UInt64(index), user: "u\(index + 1)").one(
                RefusedAnswer.self)
            expectEqual(refusal.code, .badClientFileIdent)
        }
        expectTrue(harness.owner.heldResets.isEmpty)
    }

    /// The earlier campaign for which a client realm had yet to reset hears that it is superseded, and no more.
    @Test func anEarlierCampaignIsSuperseded() async throws {
        let (harness, a, b) = try await filled()
        try await harness.send(
            ResetMessage(realm: harness.realm, clientFile: a.ident, campaign: "r-1", reason: nil))
        try await harness.send(erasure(harness))
        let published = try await harness.finishJobs()
        let superseded = try published.one(OutcomeReport.self)
        expectTrue(superseded.campaign == "r-1" && superseded.supersededBy == "e-1" && superseded.identOld == a.ident)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [a.ident, b.ident])
    }

    /// A stock client says nothing of how it ended.
    @Test func theOutcomeOfAConnectedStockClientIsInferred() async throws {
        let (harness, a, _) = try await filled()
        try await harness.send(erasure(harness))
        try await harness.finishJobs()
        _ = try await harness.unbind(a, session: 1, wasRefused: true)
        let fresh = try #require(
            try await harness.send(harness.bindRequest(session: 5, connection: "c1")).one(BoundAnswer.self).clientFile)
        _ = try await harness.identify(fresh, session: 5)
        _ = try await harness.page(fresh, session: 5, isMark: true)
        _ = try await harness.unbind(fresh, session: 5)
        _ = try await harness.send(harness.bindRequest(session: 6, connection: "c1", needsIdent: false))
        let record = try await harness.record()
        let at = DownloadCursor(serverVersion: record.latest.version)
        _ = try await harness.identify(fresh, session: 6, download: at, latest: record.latest).one(
            IdentifiedAnswer.self)
        var reports: [OutcomeReport] = []
        reports += try await harness.page(fresh, session: 6, after: at, isMark: true).every(OutcomeReport.self)
        harness.time.advance(60_000)
        reports += try await harness.send(TickMessage(at: harness.time.now())).every(OutcomeReport.self)
        expectTrue(reports.last?.campaign == "e-1" && reports.last?.identOld == a.ident)
        expectTrue(reports.last?.result == .notNeeded || reports.last?.result == .recovered)
    }

    @Test func sessionsAreToldAgainWithTheTicks() async throws {
        let (harness, _, b) = try await filled()
        try await harness.send(erasure(harness))
        let again = try await harness.send(TickMessage(at: harness.time.now())).one(ResetNotice.self)
        expectEqual(again.identsBelow, FileIdent(b.ident.rawValue + 1))
        harness.time.advance(ErasureState.toldFor + 1)
        try await expectTrue(harness.send(TickMessage(at: harness.time.now())).every(ResetNotice.self).isEmpty)
    }

    // MARK: Apps

    @Test func anAppThatIsThereIsNotErased() async throws {
        let (harness, _, _) = try await filled()
        try await expectEqual(harness.send(EraseAppMessage(app: OwnerHarness.app)).dead.count, 1)
        try await expectEqual(harness.titles(), [1: "gone"])
    }

    @Test func ofADeletedAppNothingIsLeft() async throws {
        let (harness, a, _) = try await filled()
        let second = RealmName(app: OwnerHarness.app, partition: "\"other\"")
        var bind = harness.bindRequest(session: 3)
        bind.context.realm = second
        _ = try await harness.send(bind).one(BoundAnswer.self)
        try await harness.send(EraseMessage(realm: second, campaign: "e-1", reason: nil))
        _ = try await harness.control.deleteApp(
            AppDeletionRecord(app: OwnerHarness.app, by: "t", at: 1, slices: 1))
        try await harness.send(EraseAppMessage(app: OwnerHarness.app))
        let reports = try await harness.finishJobs().every(ErasedReport.self)
        expectTrue(reports.last?.isDone == true && reports.last?.erased == 1 && reports.last?.left == 0)
        try await expectTrue(harness.store.realms(after: nil, limit: 9).isEmpty)
        try await expectTrue(harness.store.unsweptErasures(limit: 9).isEmpty)
        try await expectTrue(harness.store.erasures(of: second).isEmpty)
        try await expectTrue(harness.store.appGenerations(after: nil, limit: .max).isEmpty)
        try await expectTrue(harness.store.appErasures().isEmpty)
        try await expectTrue(harness.identify(a, session: 9).one(RefusedAnswer.self).tryAgain)
        // Asked again it says so again.
        try await harness.send(EraseAppMessage(app: OwnerHarness.app))
        try await expectTrue(harness.finishJobs().one(ErasedReport.self).isDone)
    }
}
