import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What makes a realm restart after a termination, and what does not: all who were connected are heard of at once.
@Suite(.hangGuard) struct RestartTests {
    @Test func clientsThatMustResetAreToldWithoutARestart() async throws {
        let harness = try await OwnerHarness.make()
        let old = try await terminated(harness)
        _ = try await harness.unbind(old, session: 1)
        try await expectEqual(
            harness.send(harness.bindRequest(session: 2, needsIdent: false)).one(BoundAnswer.self).generation, 2)
        let refusals = [
            try await harness.identify(old, session: 2).one(RefusedAnswer.self),
            try await harness.page(old, session: 1).one(RefusedAnswer.self),
            try await harness.send(harness.upload(old, follows: 2, base: 2, [Changes.set(1, title: "late")])).one(
                RefusedAnswer.self),
        ]
        expectEqual(refusals.map(\.code), [208, 208, 208])
        expectTrue(refusals.allSatisfy { $0.campaign == "c-1" })
        try await expectEqual(harness.record().generation, 1)

        // A client that begins anew needs the restart.
        let fresh = try await harness.send(harness.bindRequest(session: 3)).one(BoundAnswer.self)
        expectEqual(fresh.generation, 2)
        try await expectEqual(harness.record().generation, 2)
        try await expectEqual(harness.titles(), [1: "one"])
    }

    @Test func aClientBeforeItsTurnCausesNoRestart() async throws {
        var limits = WorkerLimits()
        limits.resetsAtOnce = 0
        limits.resetsPerSecond = 1
        let harness = try await OwnerHarness.make(limits: limits)
        for user in 0..<20 {
            _ = try await harness.join(session: 100 + UInt64(user), user: "u\(user)", connection: "c\(user)")
        }
        _ = try await terminated(harness)
        var early: [Int] = []
        for user in 0..<20 where early.isEmpty {
            let pace = ResetPace(generation: 2, startedAt: 0, clientRealms: 21, limits: limits)
            if pace.wait(user: "u\(user)", partition: harness.realm.partition, at: 0) != nil { early.append(user) }
        }
        let user = try #require(early.first)
        let answer = try await harness.send(
            harness.bindRequest(session: 200, user: "u\(user)", connection: "c\(user)"))
        try expectEqual(answer.one(RefusedAnswer.self).code, 229)
        try await expectEqual(harness.record().generation, 1)
    }

    @Test(arguments: [nil, 2] as [FileIdent?]) func aResetRightAfterATerminationCausesNone(_ ident: FileIdent?)
        async throws
    {
        let harness = try await OwnerHarness.make()
        let old = try await terminated(harness)
        expectEqual(old.ident, 2)
        let message = ResetMessage(realm: harness.realm, clientFile: ident, campaign: "r-1", reason: nil)
        let published = try await harness.send(message)
        let found = try published.one(FoundReport.self)
        expectTrue(found.clientRealms.isEmpty)
        expectEqual(found.generation, 2)
        try expectTrue(published.every(ResetNotice.self).isEmpty)
        try await expectEqual(harness.record().generation, 1)
        try await expectEqual(harness.identify(old, session: 2).one(RefusedAnswer.self).campaign, "c-1")
    }

    private func terminated(_ harness: OwnerHarness) async throws -> ClientFileIdent {
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        return old
    }
}
