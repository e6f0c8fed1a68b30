import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// An app on its way from one sync mode to the other.
@Suite struct MovingAppTests {
    private func move(_ harness: OwnerHarness) async throws -> ModeMigration {
        let migration = ModeMigration(
            id: "m", target: .flexible, field: "_partition", makesRoles: true, startedAt: harness.time.now())
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.migration = migration }
        return migration
    }

    @Test func anOwnerSaysThatItLetsNothingInAnyMore() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let rules = RulesMessage(app: OwnerHarness.app, version: 1)
        // Nobody waits for messages of another kind, or of an app that stays.
        try await harness.send(rules, id: "m:frozen")
        try await expectTrue(!harness.store.isSeen(messageID: "m:frozen"))
        _ = try await move(harness)
        try await harness.send(rules, id: "other")
        try await expectTrue(!harness.store.isSeen(messageID: "other"))

        try await harness.send(rules, id: "m:frozen")
        try await expectTrue(harness.store.isSeen(messageID: "m:frozen"))
        let refused = try await harness.send(harness.upload(file, session: 1, [Changes.schema()]))
        try expectEqual(refused.one(RefusedAnswer.self).code, .initialSyncNotCompleted)
        try await expectTrue(harness.record().latest.version <= 1)
    }

    /// An owner that remembers the app as it was hears of the move by the message itself.
    @Test func theMessageItselfHasTheSettingsReadAnew() async throws {
        let control = try await OwnerHarness.make().control
        let known = AppDirectory(store: control, lifetime: .seconds(600))
        let harness = try await OwnerHarness.make(control: control, apps: known)
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, session: 1, [Changes.schema()]))
        _ = try await move(harness)
        try await harness.send(RulesMessage(app: OwnerHarness.app, version: 1), id: "m:frozen")
        try await expectTrue(harness.store.isSeen(messageID: "m:frozen"))
        let late = harness.upload(file, session: 1, follows: 1, base: 1, timestamp: 2_000, [Changes.create(1)])
        let refused = try await harness.send(late)
        try expectEqual(refused.one(RefusedAnswer.self).code, .initialSyncNotCompleted)
    }
}
