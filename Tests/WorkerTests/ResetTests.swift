import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ResetTests {
    private func termination(campaign: String = "c-1", generation: UInt64? = 2) -> TerminationMessage {
        TerminationMessage(app: OwnerHarness.app, campaign: campaign, generation: generation, reason: "test")
    }

    @Test func aTerminationReachesEveryClientRealmOfTheApp() async throws {
        let harness = try await OwnerHarness.make()
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2, user: "v")
        let published = try await harness.send(termination())
        let found = try published.one(FoundReport.self)
        expectEqual(found.campaign, "c-1")
        expectEqual(found.generation, 2)
        expectEqual(found.clientRealms.map(\.clientFile), [a.ident, b.ident])
        expectEqual(found.clientRealms.map(\.user), ["u", "v"])
        let notice = try published.one(ResetNotice.self)
        expectEqual(notice.generation, 2)
        expectEqual(notice.campaign, "c-1")
    }

    @Test func aRepeatedTerminationReportsTheSameAndChangesNothing() async throws {
        let harness = try await OwnerHarness.make()
        _ = try await harness.join(session: 1)
        let first = try await harness.send(termination()).one(FoundReport.self)
        let new = try await harness.join(session: 2)
        let second = try await harness.send(termination()).one(FoundReport.self)
        expectEqual(first, second)
        _ = try await harness.identify(new, session: 3).one(IdentifiedAnswer.self)
    }

    @Test func anOlderGenerationTerminatesNothing() async throws {
        let harness = try await OwnerHarness.make()
        try await harness.send(termination(campaign: "c-5", generation: 5))
        let file = try await harness.join(session: 1)
        let found = try await harness.send(termination(campaign: "c-3", generation: 3)).one(FoundReport.self)
        expectTrue(found.clientRealms.isEmpty && found.generation == 3)
        _ = try await harness.identify(file, session: 3).one(IdentifiedAnswer.self)
    }

    @Test func aTerminationFromAShellIsKnownByItsMessageID() async throws {
        let harness = try await OwnerHarness.make()
        let message = TerminationMessage(app: OwnerHarness.app, campaign: nil, generation: nil, reason: nil)
        _ = try await harness.join(session: 1)
        try await expectEqual(harness.send(message, id: "m-1").one(FoundReport.self).generation, 2)
        try await expectEqual(harness.send(message, id: "m-1").one(FoundReport.self).generation, 2)
        try await expectEqual(harness.send(message, id: "m-2").one(FoundReport.self).generation, 3)
    }

    @Test func anOldIdentIsToldToResetForEver() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: "kept")]))
        try await harness.send(termination())
        for session in 5..<8 as Range<UInt64> {
            let refusal = try await harness.identify(file, session: session).one(RefusedAnswer.self)
            expectEqual(refusal.code, 208)
            expectEqual(refusal.action, "ClientReset")
            expectEqual(refusal.campaign, "c-1")
        }
        let upload = try await harness.send(harness.upload(file, follows: 2, base: 2, [Changes.set(1, title: "late")]))
        try expectEqual(upload.one(RefusedAnswer.self).code, 208)
        try await expectEqual(harness.titles(), [1: "kept"])
    }

    @Test(arguments: [true, false]) func clientsThatComeLaterAreToldTheReasonToo(_ isTermination: Bool) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let long = String(repeating: "é", count: 600)
        if isTermination {
            try await harness.send(
                TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: long))
        } else {
            try await harness.send(
                ResetMessage(realm: harness.realm, clientFile: file.ident, campaign: "c-1", reason: long))
        }
        let next = try await OwnerHarness.make(on: harness.store)
        let refusal = try await next.identify(file, session: 5).one(RefusedAnswer.self)
        expectEqual(refusal.message, String(repeating: "é", count: 500))
    }

    @Test func aResetWithoutAReasonIsToldInGeneralWords() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(
            TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        let refusal = try await harness.identify(file, session: 5).one(RefusedAnswer.self)
        expectEqual(refusal.message, "sync was terminated or this client realm must reset")
    }

    @Test func recoveryTurnedOffIsSaid() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(termination())
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.clientRecovery = false }
        try await expectEqual(
            harness.identify(file, session: 5).one(RefusedAnswer.self).action, "ClientResetNoRecovery")
    }

    @Test func theNewGenerationBeginsWithTheState() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let before = try await harness.send(
            harness.upload(
                file,
                [Changes.schema(), Changes.create(1, title: "one"), Changes.create(2, title: "two"), Changes.erase(1)])
        ).one(IntegratedNotice.self)
        try await harness.send(termination())
        let fresh = try await harness.join(session: 2)
        expectEqual(fresh.ident.rawValue, file.ident.rawValue + 1)
        let page = try await harness.page(fresh, session: 2, generation: 2).one(PageAnswer.self)
        expectTrue(page.isComplete)
        expectEqual(page.generation, 2)
        expectTrue(page.entries.allSatisfy { $0.originFile == 1 && $0.clientVersion == 0 })
        expectTrue(page.latest.salt != before.latest.salt)
        try await expectEqual(harness.titles(), [2: "two"])
        // The history goes on from there.
        let notice = try await harness.send(
            harness.upload(
                fresh, session: 2, base: page.latest.version, generation: 2, [Changes.set(2, title: "again")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.follows, page.latest.version)
        try await expectEqual(harness.titles(), [2: "again"])
    }

    @Test func oneClientRealmCanBeReset() async throws {
        let harness = try await OwnerHarness.make()
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        let message = ResetMessage(realm: harness.realm, clientFile: a.ident, campaign: "r-1", reason: nil)
        let published = try await harness.send(message)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [a.ident])
        try expectEqual(published.one(ResetNotice.self).clientFile, a.ident)
        try await expectEqual(harness.identify(a, session: 3).one(RefusedAnswer.self).campaign, "r-1")
        _ = try await harness.identify(b, session: 4).one(IdentifiedAnswer.self)
        try await expectEqual(harness.send(message).one(FoundReport.self).clientRealms.map(\.clientFile), [a.ident])
    }

    @Test(arguments: [512, 0]) func aWholeRealmCanBeReset(_ realmsInMemory: Int) async throws {
        var limits = WorkerLimits()
        limits.maxRealms = realmsInMemory
        limits.maxFoundPerReport = 2
        let harness = try await OwnerHarness.make(limits: limits)
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        let published = try await harness.send(
            ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-2", reason: nil))
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [a.ident, b.ident])
        try expectEqual(published.every(ResetNotice.self).map(\.clientFile), [a.ident, b.ident])
        try await expectEqual(harness.identify(b, session: 3).one(RefusedAnswer.self).campaign, "r-2")
    }

    @Test func reportsComeInChunks() async throws {
        var limits = WorkerLimits()
        limits.maxFoundPerReport = 2
        let harness = try await OwnerHarness.make(limits: limits)
        for session in 1...5 as ClosedRange<UInt64> { _ = try await harness.join(session: session) }
        let found = try await harness.send(termination()).every(FoundReport.self)
        expectEqual(found.map(\.chunk), [0, 1, 2])
        expectTrue(found.allSatisfy { $0.chunks == 3 })
        expectEqual(found.flatMap(\.clientRealms).map(\.clientFile), [2, 3, 4, 5, 6])
    }

    @Test func ticksRepeatGenerationsAndExpireWhoWasAwayTooLong() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(TickMessage(at: harness.time.now())).one(GenerationNotice.self)
        expectEqual(notice.generation, 1)
        _ = try await harness.identify(file, session: 2).one(IdentifiedAnswer.self)
        harness.time.advance(31 * 86_400_000)
        try await harness.send(TickMessage(at: harness.time.now()))
        let refusal = try await harness.identify(file, session: 3).one(RefusedAnswer.self)
        expectEqual(refusal.code, 222)
        expectEqual(refusal.action, "ClientReset")
    }

    @Test func oneWrongClockExpiresNobody() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        _ = try await harness.identify(file, session: 2).one(IdentifiedAnswer.self)
        let month: UInt64 = 31 * 86_400_000
        try await harness.send(TickMessage(at: harness.time.now() + month))
        _ = try await harness.identify(file, session: 3).one(IdentifiedAnswer.self)
        let before = harness.time.now()
        harness.time.advance(2 * month)
        try await harness.send(TickMessage(at: before))
        _ = try await harness.identify(file, session: 4).one(IdentifiedAnswer.self)
    }
}
