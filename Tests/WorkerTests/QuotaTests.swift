import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// What apps and users may have and add in a slice.
@Suite(.hangGuard) struct QuotaTests {
    private static func limits(_ quotas: [Quota: Int]) -> WorkerLimits {
        var limits = WorkerLimits()
        limits.quotas = QuotaValues(quotas)
        return limits
    }

    private static func bind(_ harness: OwnerHarness, session: UInt64, partition: String, user: String = "u")
        -> BindRequest
    {
        var request = harness.bindRequest(session: session, user: user)
        request.context.realm = RealmName(app: OwnerHarness.app, partition: partition)
        return request
    }

    @Test func aUserThatHasMadeItsRealmsWaitsAndOthersGoOn() async throws {
        let harness = try await OwnerHarness.make(limits: Self.limits([.userRealms: 2]))
        for session in 1...2 {
            let request = Self.bind(harness, session: UInt64(session), partition: "\"flood-\(session)\"")
            _ = try await harness.send(request).one(BoundAnswer.self)
        }
        let refusal = try await harness.send(Self.bind(harness, session: 3, partition: "\"flood-3\""))
            .one(RefusedAnswer.self)
        expectTrue(refusal.code == .initialSyncNotCompleted && refusal.action == .transient && refusal.tryAgain)
        expectTrue(refusal.message.contains("user u of app tasks may have 2 realms made lately in one slice"))
        expectTrue(refusal.message.contains("quota userRealms"))
        expectTrue((refusal.backoff?.intervalSeconds ?? 0) >= 30)
        try await expectEqual(harness.store.usage(ofApp: OwnerHarness.app).realms, 2)
        // What is there serves the user on, and another user makes its own.
        _ = try await harness.send(Self.bind(harness, session: 4, partition: "\"flood-1\"")).one(BoundAnswer.self)
        _ = try await harness.send(Self.bind(harness, session: 5, partition: "\"calm\"", user: "v")).one(
            BoundAnswer.self)
        // The next owner knows it, too; and after some weeks nobody does any more.
        let next = try await OwnerHarness.make(
            limits: Self.limits([.userRealms: 2]), on: harness.store, control: harness.control)
        let again = Self.bind(next, session: 6, partition: "\"flood-6\"")
        try await expectTrue(next.send(again).one(RefusedAnswer.self).message.contains("quota userRealms"))
        next.time.advance(4 * UInt64(UserUsage.halfLife))
        let late = Self.bind(next, session: 7, partition: "\"flood-7\"")
        _ = try await next.send(late).one(BoundAnswer.self)
    }

    @Test func anAppsOwnQuotaGoesBeforeTheSettings() async throws {
        let harness = try await OwnerHarness.make(limits: Self.limits([.clientFiles: 1]))
        _ = try await harness.join(session: 1)
        let refusal = try await harness.send(harness.bindRequest(session: 2, user: "v")).one(RefusedAnswer.self)
        expectTrue(refusal.message.contains("app tasks may have 1 client files in one slice"))
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.quotas[.clientFiles] = 2 }
        _ = try await harness.send(harness.bindRequest(session: 3, user: "v")).one(BoundAnswer.self)
    }

    @Test(arguments: [Quota.bytes, .userBytes])
    func anUploadThatIsTooMuchIsTakenLaterAndNotLost(quota: Quota) async throws {
        let harness = try await OwnerHarness.make(limits: Self.limits([quota: 1]))
        // The schema alone is beyond it.
        let file = try await harness.join(session: 1)
        let upload = harness.upload(file, [Changes.schema(), Changes.create(1, title: "kept")])
        let published = try await harness.send(upload)
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == .initialSyncNotCompleted && refusal.action == .transient && refusal.tryAgain)
        expectTrue(refusal.message.contains("quota \(quota.rawValue)"))
        try expectTrue(published.every(IntegratedNotice.self).isEmpty && published.dead.isEmpty)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.quotas[quota] = 1 << 20 }
        _ = try await harness.send(upload).one(IntegratedNotice.self)
        try await expectEqual(harness.titles(), [1: "kept"])
        // Operators are told of both.
        let activity = harness.owner.activity(at: harness.time.now())
        expectEqual(activity?.refusals, [.init(app: OwnerHarness.app, quotas: 1)])
        expectEqual(activity?.realms, [.init(realm: harness.realm, changesets: 2)])
    }

    @Test(arguments: [Quota.bytes, .userBytes])
    func clientsAtTheirQuotaMayStillRemoveObjects(quota: Quota) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let title = String(repeating: "x", count: 2_000)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: title)]))
        let used = try await harness.store.usage(ofApp: OwnerHarness.app).bytes
        let limit = quota == .bytes ? used : Changes.schema().count + Changes.create(1, title: title).count
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.quotas[quota] = limit }
        harness.time.advance(UsageLedger.appLifetime)
        func upload(_ changesets: [[UInt8]]) -> ChangesetMessage {
            harness.upload(file, follows: 2, base: 2, changesets)
        }
        let more = try await harness.send(upload([Changes.create(2)])).one(RefusedAnswer.self)
        expectTrue(more.message.contains("quota \(quota.rawValue)"))
        // Removing something and adding something else is adding.
        _ = try await harness.send(upload([Changes.erase(1), Changes.create(2)])).one(RefusedAnswer.self)
        _ = try await harness.send(upload([Changes.erase(1)])).one(IntegratedNotice.self)
        try await expectTrue(harness.titles().isEmpty)
        // The way back is no way around: it ends an eighth beyond.
        var follows: ClientVersion = 3
        var refusals = 0
        for _ in 0..<1_000 where refusals == 0 {
            harness.time.advance(UsageLedger.appLifetime)
            let published = try await harness.send(
                harness.upload(file, follows: follows, base: 2, [Changes.erase(1)]))
            refusals = try published.every(RefusedAnswer.self).count
            follows += 1
        }
        expectEqual(refusals, 1)
    }

    @Test func smallAdditionsReadNoUserUsageAndWriteNoRow() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let before = store.usersAsked.withLock { $0 }
        for index in 1...20 {
            try await harness.send(
                harness.upload(file, follows: ClientVersion(UInt64(index)), [Changes.create(Int64(index))]))
        }
        expectEqual(store.usersAsked.withLock { $0 }, before)
        expectEqual(before, 0)
        try await expectTrue(store.usage(of: AppUser(app: OwnerHarness.app, user: "u")) == nil)
        // The app's own counts were read once, and not again before some seconds.
        expectEqual(store.appsAsked.withLock { $0 }, 1)
    }
}
