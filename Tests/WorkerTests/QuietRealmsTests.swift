import Messages
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct QuietRealmsTests {
    @Test func aRealmThatHasComeToRestIsToldOfOnceMore() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let tick = { try await harness.send(TickMessage(at: harness.time.now())).every(IntegratedNotice.self) }
        try await harness.send(harness.upload(file, [Changes.schema()]))
        try await expectTrue(tick().isEmpty)
        // The realm goes on changing: a gateway that has missed something hears so from the next notice.
        let last = try await harness.send(harness.upload(file, follows: 1, [Changes.create(1)])).one(
            IntegratedNotice.self)
        try await expectTrue(tick().isEmpty)
        let again = try await tick()
        expectEqual(again.map(\.realm), [harness.realm])
        expectEqual(again.map(\.latest), [last.latest])
        expectEqual(again.map(\.follows), [last.latest.version])
        expectTrue(again.allSatisfy { $0.entries.isEmpty })
        try await expectTrue(tick().isEmpty)
    }

    @Test func theNumberOfRealmsKeptIsBounded() {
        var quiet = QuietRealms()
        let position = QuietRealms.Position(generation: 1, latest: SaltedServerVersion(version: 1, salt: 1))
        for number in 0...QuietRealms.maxRealms {
            quiet.changed(RealmName(app: "tasks", partition: "\(number)"), position)
        }
        expectEqual(quiet.tick().count, 0)
        expectEqual(quiet.tick().count, QuietRealms.maxRealms)
        quiet.told()
        expectEqual(quiet.tick().count, 0)
    }

    @Test func realmsDroppedFromATickComeInTheNext() {
        var quiet = QuietRealms()
        let (first, second) = (RealmName(app: "tasks", partition: "1"), RealmName(app: "tasks", partition: "2"))
        let position = QuietRealms.Position(generation: 1, latest: SaltedServerVersion(version: 1, salt: 1))
        quiet.changed(first, position)
        quiet.changed(second, position)
        expectEqual(quiet.tick().count, 0)
        expectEqual(quiet.tick().count, 2)
        quiet.dropped()
        // The second realm changes again: a gateway that has missed something hears so.
        quiet.changed(second, position)
        expectEqual(quiet.tick().map(\.name), [first])
    }
}
