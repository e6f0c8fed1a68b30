import AMQP
import Logging
import Messages
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Nothing is integrated, made or sent under rules older than those that the slice has seen.
@Suite(.hangGuard) struct StaleRulesTests {
    @Test func anUploadUnderOlderRulesIsSentBack() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        try await expectEqual(harness.control.setRules(TestRules.open, of: OwnerHarness.app), 1)
        let published = try await harness.send(harness.upload(file, follows: 1, [Changes.create(1)]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 200 && refusal.action == "Transient" && refusal.tryAgain)
        expectEqual(refusal.rulesVersion, 1)
        try expectTrue(published.every(IntegratedNotice.self).isEmpty && published.dead.isEmpty)
        try await expectEqual(harness.titles(), [:])
        // The session begins anew under the new rules, with the same upload.
        let rights = SessionRights(.readWrite, rulesVersion: 1)
        _ = try await harness.send(harness.upload(file, follows: 1, rights: rights, [Changes.create(1)])).one(
            IntegratedNotice.self)
        try await expectEqual(harness.titles(), [1: ""])
    }

    @Test func rulesTakeEffectWhereTheyStandInTheQueue() async throws {
        // Settings that are read once, but for the message.
        let first = try await OwnerHarness.make()
        let apps = AppDirectory(store: first.apps, lifetime: .seconds(3600))
        let harness = try await OwnerHarness.make(control: first.control, apps: apps)
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let before = try AMQPMessage(harness.upload(file, follows: 1, [Changes.create(1)]))
        let after = try AMQPMessage(harness.upload(file, follows: 2, [Changes.create(2)]))
        let version = try await harness.control.setRules(TestRules.closed, of: OwnerHarness.app)
        let rules = try AMQPMessage(RulesMessage(app: OwnerHarness.app, version: version))
        let published = try await harness.send([before, rules, after])
        try expectEqual(published.one(RefusedAnswer.self).rulesVersion, 1)
        try await expectEqual(harness.titles(), [1: ""])
    }

    @Test func aNewOwnerDoesNotGoByWhatItsProcessReadBefore() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let apps = AppDirectory(store: harness.apps, lifetime: .seconds(3600))
        _ = try await apps.app(OwnerHarness.app)
        try await harness.control.setRules(TestRules.closed, of: OwnerHarness.app)
        let next = try await OwnerHarness.make(on: harness.store, control: harness.control, apps: apps)
        let refusal = try await next.send(next.upload(file, follows: 1, [Changes.create(1)])).one(RefusedAnswer.self)
        expectTrue(refusal.code == 200 && refusal.rulesVersion == 1)
    }

    @Test func rulesVersionsNamedByAnUploadHoldForLaterOnes() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let newer = SessionRights(.readWrite, rulesVersion: 3)
        _ = try await harness.send(harness.upload(file, rights: newer, [Changes.schema()])).one(IntegratedNotice.self)
        let older = SessionRights(.readWrite, rulesVersion: 2)
        let refusal = try await harness.send(harness.upload(file, follows: 1, rights: older, [Changes.create(1)]))
            .one(RefusedAnswer.self)
        expectTrue(refusal.code == 200 && refusal.rulesVersion == 3)
    }

    @Test func anUploadOfAGatewayWithoutRulesIsSentBack() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let refusal = try await harness.send(harness.upload(file, rights: nil, [Changes.schema()]))
            .one(RefusedAnswer.self)
        expectTrue(refusal.code == 200 && refusal.tryAgain)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
    }

    @Test(arguments: [nil, SessionRights(.none, rulesVersion: 1), SessionRights(.readWrite, rulesVersion: 0)])
    func nothingIsMadeForABindThatIsRefused(rights: SessionRights?) async throws {
        let harness = try await OwnerHarness.make()
        try await harness.control.setRules(TestRules.open, of: OwnerHarness.app)
        var request = harness.bindRequest(session: 1)
        request.context.rights = rights
        let refusal = try await harness.send(request).one(RefusedAnswer.self)
        expectEqual(refusal.code, (rights?.rights == PartitionRights.none ? 206 : 200))
        try await expectTrue(harness.store.realm(harness.realm) == nil)
    }

    @Test(arguments: [nil, SessionRights(.none, rulesVersion: 1), SessionRights(.readWrite, rulesVersion: 0)])
    func aSessionWithoutRightsIsSentNoHistory(rights: SessionRights?) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
        let other = try await harness.join(session: 2)
        try await harness.control.setRules(TestRules.open, of: OwnerHarness.app)
        let page = PageRequest(
            context: harness.context(2, rights: rights), clientFile: other.ident, generation: 1,
            after: DownloadCursor(), maxBytes: 1 << 18, isMark: false)
        var identify = harness.identifyRequest(other, session: 3)
        identify.context.rights = rights
        for published in [try await harness.send(page), try await harness.send(identify)] {
            try expectTrue(published.every(PageAnswer.self).isEmpty && published.every(IdentifiedAnswer.self).isEmpty)
            try expectEqual(
                published.one(RefusedAnswer.self).code, (rights?.rights == PartitionRights.none ? 206 : 200))
        }
    }

    @Test func rulesOfAnAppThatIsGoneAreNobodysConcern() async throws {
        let harness = try await OwnerHarness.make()
        let published = try await harness.send(RulesMessage(app: "gone", version: 4))
        expectTrue(published.all.isEmpty)
    }

    @Test func anUploadReadsNoRules() async throws {
        let harness = try await OwnerHarness.make()
        let version = try await harness.control.setRules(TestRules.open, of: OwnerHarness.app)
        let rights = SessionRights(.readWrite, rulesVersion: version)
        var bind = harness.bindRequest(session: 1)
        bind.context.rights = rights
        let file = try #require(try await harness.send(bind).one(BoundAnswer.self).clientFile)
        var identify = harness.identifyRequest(file, session: 1)
        identify.context.rights = rights
        _ = try await harness.send(identify).one(IdentifiedAnswer.self)
        try await harness.send(harness.upload(file, rights: rights, [Changes.schema()]))
        for number in 1...20 as ClosedRange<UInt64> {
            try await harness.send(
                harness.upload(file, follows: ClientVersion(number), rights: rights, [Changes.create(Int64(number))]))
        }
        try await expectEqual(harness.titles().count, 20)
        expectEqual(harness.apps.rulesRead, 0)
    }

    @Test func versionsOfAnEarlierAppOfTheSameNameDoNotCount() {
        var seen = RulesSeen()
        seen.see(AppRecord(id: "tasks", rulesVersion: 7, createdAt: 1), of: "tasks")
        seen.see(AppRecord(id: "tasks", rulesVersion: 5, createdAt: 1), of: "tasks")
        expectEqual(seen.newest(of: "tasks"), 7)
        seen.see(AppRecord(id: "tasks", rulesVersion: 1, createdAt: 2), of: "tasks")
        expectEqual(seen.newest(of: "tasks"), 1)
        seen.see(nil, of: "tasks")
        expectTrue(seen.newest(of: "tasks") == 0 && seen.knows("tasks"))
        for number in 0..<RulesSeen.maxApps { seen.see(nil, of: "app\(number)") }
        expectTrue(!seen.knows("tasks"))
    }
}
