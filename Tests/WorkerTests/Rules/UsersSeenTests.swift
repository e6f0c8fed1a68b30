import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Nothing is integrated, made or sent for a user as it was before it was changed.
@Suite(.hangGuard) struct UsersSeenTests {
    // MARK: What a slice knows

    @Test func changesHeardOfTellIfAUserHasChanged() {
        var seen = UsersSeen()
        expectTrue(seen.verdict(on: "a", of: "tasks", at: 0) == .current && !seen.knows("tasks"))
        seen.see(5, of: "tasks", createdAt: 1)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 5), .current)
        seen.hear(6, of: "tasks", user: "a")
        seen.hear(7, of: "tasks", user: "b")
        // What comes twice, or late, says nothing new.
        seen.hear(6, of: "tasks", user: "c")
        expectEqual(seen.newest(of: "tasks"), 7)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 5), .changed)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 6), .current)
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 6), .changed)
        expectEqual(seen.verdict(on: "c", of: "tasks", at: 5), .current)
        expectEqual(seen.verdict(on: "c", of: "tasks", at: 4), .unknown(after: 4))
        // Another app has the same name.
        seen.see(1, of: "tasks", createdAt: 2)
        expectTrue(seen.newest(of: "tasks") == 1 && seen.verdict(on: "a", of: "tasks", at: 1) == .current)
    }

    @Test func changesNotHeardOfAreReadOnce() {
        var seen = UsersSeen()
        seen.see(5, of: "tasks", createdAt: 1)
        // Settings that were read again know of a change that nobody has told of.
        seen.see(8, of: "tasks", createdAt: 1)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 7), .unknown(after: 5))
        seen.learn(["a"], of: "tasks", after: 5)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 7), .changed)
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 5), .current)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 8), .current)
        // A session of long ago, at a new owner.
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 2), .unknown(after: 2))
        seen.learn(["b", "a"], of: "tasks", after: 2)
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 2), .changed)
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 5), .current)
        expectEqual(seen.verdict(on: "c", of: "tasks", at: 2), .current)
        // A gap: one change was not heard of.
        seen.hear(10, of: "tasks", user: "c")
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 8), .unknown(after: 8))
        expectEqual(seen.verdict(on: "b", of: "tasks", at: 10), .current)
    }

    @Test func whereAnyoneMayHaveChangedEverybodyHas() {
        var seen = UsersSeen()
        seen.see(5, of: "tasks", createdAt: 1)
        seen.hear(6, of: "tasks", user: nil)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 5), .unknown(after: 5))
        seen.learn(nil, of: "tasks", after: 5)
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 5), .unknown(after: 5))
        expectEqual(seen.verdict(on: "a", of: "tasks", at: 6), .current)
    }

    @Test func theUsersAndAppsKeptAreBounded() {
        var seen = UsersSeen()
        seen.see(0, of: "tasks", createdAt: 1)
        for version in 1...UInt64(UsersSeen.maxUsers) + 1 { seen.hear(version, of: "tasks", user: "u\(version)") }
        expectTrue(seen.knows("tasks") && seen.verdict(on: "u1", of: "tasks", at: 0) == .unknown(after: 0))
        for number in 0..<UsersSeen.maxApps { seen.see(0, of: "app\(number)", createdAt: 1) }
        expectTrue(!seen.knows("tasks"))
    }

    // MARK: An owner

    private struct Bench {
        let harness: OwnerHarness
        let file: ClientFileIdent

        static func make(users: [String] = ["u", "v"]) async throws -> Bench {
            let harness = try await OwnerHarness.make()
            for user in users {
                try await harness.control.insert(
                    UserRecord(
                        app: OwnerHarness.app, id: user, identities: [], email: nil, isDisabled: false, createdAt: 1))
            }
            let file = try #require(
                try await harness.send(harness.bindRequest(session: 1, user: "u")).one(BoundAnswer.self).clientFile)
            var identify = harness.identifyRequest(file, session: 1, user: "u")
            identify.context.rights = rights(0)
            _ = try await harness.send(identify).one(IdentifiedAnswer.self)
            try await harness.send(harness.upload(file, rights: rights(0), [Changes.schema()]))
            return Bench(harness: harness, file: file)
        }

        static func rights(_ users: UInt64?) -> SessionRights {
            SessionRights(.readWrite, rulesVersion: 0, usersVersion: users)
        }

        func upload(_ follows: ClientVersion, users: UInt64?, _ key: Int64) async throws -> Published {
            try await harness.send(
                harness.upload(file, follows: follows, rights: Self.rights(users), [Changes.create(key)]))
        }
    }

    @Test func anUploadOfBeforeTheUserWasDisabledIsSentBack() async throws {
        let bench = try await Bench.make()
        let control = bench.harness.control
        try await control.setDisabled(true, app: OwnerHarness.app, user: "u")
        let refusal = try await bench.upload(1, users: 0, 1).one(RefusedAnswer.self)
        expectTrue(refusal.code == 200 && refusal.action == "Transient" && refusal.tryAgain)
        expectEqual(refusal.usersVersion, 1)
        try await expectEqual(bench.harness.titles(), [:])
        // Enabled again, the user's sessions begin anew.
        try await control.setDisabled(false, app: OwnerHarness.app, user: "u")
        try await expectEqual(bench.upload(1, users: 1, 1).one(RefusedAnswer.self).usersVersion, 2)
        _ = try await bench.upload(1, users: 2, 1).one(IntegratedNotice.self)
    }

    @Test func othersAreNotDisturbed() async throws {
        let bench = try await Bench.make()
        for data in ["{}", nil, "{}"] {
            try await bench.harness.control.setCustomData(data, app: OwnerHarness.app, user: "v")
        }
        _ = try await bench.upload(1, users: 0, 1).one(IntegratedNotice.self)
        // Nor are those of a gateway that does not say.
        try await bench.harness.control.setDisabled(true, app: OwnerHarness.app, user: "u")
        _ = try await bench.upload(2, users: nil, 2).one(IntegratedNotice.self)
    }

    /// The coordinator's message takes effect where it stands in the queue; no settings are read again.
    @Test func aUserChangesWhereTheMessageStandsInTheQueue() async throws {
        let first = try await Bench.make()
        let apps = AppDirectory(store: first.harness.apps, lifetime: .seconds(3600))
        let harness = try await OwnerHarness.make(
            on: first.harness.store, control: first.harness.control, apps: apps)
        let bench = Bench(harness: harness, file: first.file)
        _ = try await bench.upload(1, users: 0, 1).one(IntegratedNotice.self)
        try await harness.control.setDisabled(true, app: OwnerHarness.app, user: "u")
        try await harness.send(RulesMessage(app: OwnerHarness.app, version: 0, usersVersion: 1, user: "u"))
        try await expectEqual(bench.upload(2, users: 0, 2).one(RefusedAnswer.self).usersVersion, 1)
        for published in [
            try await harness.send(request(harness.bindRequest(session: 9, user: "u"))),
            try await harness.send(identify(bench)), try await harness.send(page(bench)),
        ] { try expectEqual(published.one(RefusedAnswer.self).usersVersion, 1) }
        try await expectEqual(harness.titles(), [1: ""])
    }

    private func request(_ bind: BindRequest) -> BindRequest {
        var bind = bind
        bind.context.rights = Bench.rights(0)
        return bind
    }

    private func identify(_ bench: Bench) -> IdentifyRequest {
        var request = bench.harness.identifyRequest(bench.file, session: 5, user: "u")
        request.context.rights = Bench.rights(0)
        return request
    }

    private func page(_ bench: Bench) -> PageRequest {
        PageRequest(
            context: bench.harness.context(1, rights: Bench.rights(0)), clientFile: bench.file.ident, generation: 1,
            after: DownloadCursor(), maxBytes: 1 << 18, isMark: false)
    }

    /// The next owner has heard nothing, and reads who has changed.
    @Test func aNewOwnerKnowsNoLess() async throws {
        let bench = try await Bench.make()
        try await bench.harness.control.setDisabled(true, app: OwnerHarness.app, user: "u")
        try await bench.harness.control.setCustomData("{}", app: OwnerHarness.app, user: "v")
        let next = Bench(
            harness: try await OwnerHarness.make(on: bench.harness.store, control: bench.harness.control),
            file: bench.file)
        try await expectEqual(next.upload(1, users: 0, 1).one(RefusedAnswer.self).usersVersion, 2)
        _ = try await next.upload(1, users: 2, 1).one(IntegratedNotice.self)
    }
}
