import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What a session in flexible mode makes of notices that concern it, and when it asks its owner instead.
@Suite struct FlexibleNoticeTests {
    private typealias Script = FlexibleSessionScript

    @Test func aSessionThatIsUpFollows() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        expectTrue(script.followed.last?.version == 5 && script.followed.last?.definition.queries == "{}")
        let pages = script.pages.count
        // Nothing between 5 and 9 concerns it: it is told of what does, and stands there.
        try script.cluster(Script.notice(9, group: Script.group))
        expectTrue(script.pages.count == pages && script.machine.progress.download.serverVersion == 10)
        // A notice that others have to tell about is asked for, from where the session stands.
        try script.cluster(Script.notice(12, group: nil))
        expectEqual(script.pages.last?.after.serverVersion, 10)
        try script.answer([Script.entry(13)], to: 13)
        expectEqual(script.take().last, "0/steadyState of 1 to 13")
        expectEqual(script.followed.last?.version, 13)
    }

    @Test func objectsInANoticeCountTowardMailboxBytes() {
        var notice = IntegratedNotice(
            realm: RealmName(flexible: "tasks"), generation: 1, follows: 5,
            latest: SaltedServerVersion(version: 6, salt: 7), entries: [], acknowledgements: [])
        let alone = FannedNotice(notice).bytes
        notice.objects = NoticedObjects(
            schema: 1, changedSchema: [], before: [Array(repeating: 0, count: 5_000)],
            now: Array(repeating: 0, count: 3_000))
        expectTrue(FannedNotice(notice).bytes >= alone + 8_000)
    }

    @Test func noticeDuringAPageIsAskedForAfterIt() throws {
        var script = try Script.begun()
        let pages = script.pages.count
        try script.cluster(Script.notice(6, group: Script.group))
        expectEqual(script.pages.count, pages)
        try script.answer(to: 6)
        expectTrue(script.pages.count == pages + 1 && script.pages.last?.after.serverVersion == 6)
    }

    @Test func versionsHeardBeforeTheSessionFollowedAreAskedFor() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        let pages = script.pages.count
        try script.cluster(.heardOf(5))
        expectEqual(script.pages.count, pages)
        try script.cluster(.heardOf(6))
        expectEqual(script.pages.count, pages + 1)
    }

    @Test func aClientThatNothingConcernsIsToldNowAndThenWhereItStands() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        _ = script.take()
        let latest = SaltedServerVersion(version: 50, salt: 7)
        try script.cluster(.stands(latest))
        expectTrue(script.take().isEmpty && script.machine.progress.download.serverVersion == 50)
        script.now += SessionContext.Limits().idleProgress
        try script.cluster(.stands(SaltedServerVersion(version: 60, salt: 7)))
        expectEqual(script.take(), ["0/steadyState of 0 to 60"])
    }
}
