import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct ResetAccountTests {
    @Test func anAccountIsOfADayAndAGeneration() {
        expectEqual(ResetAccount.id(app: "tasks", generation: 1, at: 1_763_856_000_000), "tasks.resets-2025-11-23")
        expectEqual(ResetAccount.id(app: "tasks", generation: 1, at: 1_763_855_999_999), "tasks.resets-2025-11-22")
        expectEqual(ResetAccount.id(app: "tasks", generation: 3, at: 0), "tasks.resets-1970-01-01-g3")
    }

    @Test func badUploadsOfManyClientsAreInOneAccount() async throws {
        let harness = try await OwnerHarness.make()
        let account = ResetAccount.id(app: OwnerHarness.app, generation: 1, at: harness.time.now())
        for session in 1...5 as ClosedRange<UInt64> {
            let file = try await harness.join(session: session, user: "u\(session)", connection: "c\(session)")
            let published = try await harness.send(harness.upload(file, session: session, [[0xff, 0xff]]))
            let found = try published.one(FoundReport.self)
            expectTrue(found.kind == "account" && found.campaign == account && found.reason == nil)
            expectEqual(found.clientRealms.map(\.clientFile), [file.ident])
            expectEqual(found.clientRealms[0].reason?.contains("changeset of client version 1"), true)
            try expectEqual(published.one(RefusedAnswer.self).campaign, account)
        }
    }

    /// The client has told its gateway that it cannot integrate what it was sent.
    @Test func aResetThatAGatewayAsksForIsInTheAccount() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let message = ResetMessage(
            realm: harness.realm, clientFile: file.ident, campaign: nil, reason: "cannot integrate", isUnasked: true)
        let first = try await harness.send(message)
        let account = try first.one(FoundReport.self).campaign
        expectEqual(account, ResetAccount.id(app: OwnerHarness.app, generation: 1, at: harness.time.now()))
        try expectEqual(first.one(ResetNotice.self).campaign, account)
        // Given again, it tells again and reports nothing more.
        let again = try await harness.send(message)
        try expectTrue(again.every(FoundReport.self).isEmpty)
        try expectEqual(again.one(ResetNotice.self).clientFile, file.ident)
        try await expectEqual(harness.rejoin(file, session: 3).one(RefusedAnswer.self).campaign, account)
    }

    // MARK: Those that never come back

    private static let day: UInt64 = 86_400_000

    @Test func rowsOfThoseThatNeverComeBackGo() async throws {
        let harness = try await OwnerHarness.make()
        let gone = try await harness.join(session: 1)
        let live = try await harness.join(session: 2, user: "v", connection: "c2")
        try await harness.send(
            ResetMessage(realm: harness.realm, clientFile: gone.ident, campaign: "r", reason: nil))
        let realm = try await harness.record().id
        harness.time.advance(179 * Self.day)
        _ = try await harness.unbind(live, session: 2)
        try await harness.tick()
        try await expectTrue(harness.store.clientFile(ClientFileKey(realm: realm, ident: gone.ident)) != nil)
        harness.time.advance(2 * Self.day)
        try await harness.tick()
        try await expectTrue(harness.store.clientFile(ClientFileKey(realm: realm, ident: gone.ident)) == nil)
        try await expectTrue(harness.store.clientFile(ClientFileKey(realm: realm, ident: live.ident)) != nil)
        // The ident is nobody's now: a client that has it must reset, and is accounted for.
        let late = try await harness.rejoin(gone, session: 9)
        let refusal = try late.one(RefusedAnswer.self)
        expectTrue(refusal.code == .badClientFileIdent && refusal.action == .clientReset && refusal.integrated == nil)
        try expectEqual(late.one(FoundReport.self).clientRealms.map(\.clientFile), [gone.ident])
        let fresh = try await harness.join(session: 10)
        expectTrue(fresh.ident > live.ident)
    }

    @Test func aWrongClockForgetsNobody() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(
            ResetMessage(realm: harness.realm, clientFile: file.ident, campaign: "r", reason: nil))
        let before = harness.time.now()
        harness.time.advance(400 * Self.day)
        // The coordinator's clock says that no time has passed.
        try await harness.send(TickMessage(at: before))
        let key = ClientFileKey(realm: try await harness.record().id, ident: file.ident)
        try await expectTrue(harness.store.clientFile(key) != nil)
    }
}
