import Foundation
import Rules
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import StorageSQLite

/// Rules in the control store, and what counts the changes of an app.
@Suite(.hangGuard) struct ControlRulesTests {
    private func change(_ document: String, by author: String = "ops", at: UInt64 = 7) -> RulesChange {
        RulesChange(document: Array(document.utf8), author: author, at: at)
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppBeginsWithTheRulesThatItIsGivenOrNone(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "shut", rulesVersion: 9, createdAt: 1))
            try await store.insert(AppRecord(id: "open", createdAt: 1), rules: change("{}"))
            try await expectEqual(store.app("shut")?.rulesVersion, 0)
            try await expectTrue(store.rulesHistory(app: "shut", after: nil, limit: 10).isEmpty)
            try await expectEqual(store.app("open")?.rulesVersion, 1)
            try await expectEqual(
                store.rules(app: "open", version: 1),
                RulesRecord(app: "open", version: 1, document: Array("{}".utf8), author: "ops", at: 7))
            try await expectTrue(store.rules(app: "open", version: 2) == nil)
            let again = await #expect(throws: StoreError.self) {
                try await store.insert(AppRecord(id: "open", createdAt: 1), rules: change("{}"))
            }
            expectEqual(again?.code, .alreadyExists)
            try await expectEqual(store.app("open")?.rulesVersion, 1)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func onlyTheVersionInForceIsReplaced(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.replaceRules(app: "tasks", expecting: 0, with: change("a"))
            }
            expectEqual(missing?.code, .notFound)
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await expectEqual(store.replaceRules(app: "tasks", expecting: 0, with: change("a")).version, 1)
            try await expectEqual(store.replaceRules(app: "tasks", expecting: 1, with: change("b")).version, 2)
            for stale in [UInt64(0), 1, 3] {
                let error = await #expect(throws: StoreError.self) {
                    _ = try await store.replaceRules(app: "tasks", expecting: stale, with: change("c"))
                }
                expectTrue(error?.code == .stale && error?.message.contains("version 2") == true)
            }
            try await expectEqual(store.app("tasks")?.rulesVersion, 2)
            try await expectEqual(store.rules(app: "tasks", version: 2)?.document, Array("b".utf8))
            try await expectTrue(store.rules(app: "tasks", version: 3) == nil)
            // No change of settings touches what counts.
            let changed = try await store.updateApp("tasks") { app in
                app.rulesVersion = 77
                app.usersVersion = 77
                app.onReadDenied = .delete
                app.onWriteDenied = .error
            }
            expectTrue(changed.rulesVersion == 2 && changed.usersVersion == 0)
            try await expectTrue(store.app("tasks") == changed && changed.onReadDenied == .delete)
            expectEqual(changed.onWriteDenied, .error)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func theNewestVersionsAreKept(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await store.insert(AppRecord(id: "other", createdAt: 1), rules: change("o"))
            let count = UInt64(RulesRecord.kept) + 20
            for version in 0..<count {
                _ = try await store.replaceRules(
                    app: "tasks", expecting: version, with: change(String(repeating: "x", count: Int(version + 1))))
            }
            let all = try await store.rulesHistory(app: "tasks", after: nil, limit: 1000)
            expectEqual(all.map(\.version), Array((21...count).reversed()))
            expectTrue(
                all.map(\.bytes) == all.map { Int($0.version) } && all.allSatisfy { $0.author == "ops" && $0.at == 7 })
            try await expectTrue(store.rules(app: "tasks", version: 20) == nil)
            try await expectTrue(store.rules(app: "tasks", version: 21) != nil)
            let page = try await store.rulesHistory(app: "tasks", after: 30, limit: 3)
            expectEqual(page.map(\.version), [29, 28, 27])
            try await expectEqual(store.rulesHistory(app: "other", after: nil, limit: 10).map(\.version), [1])
        }
    }

    @Test func twoConnectionsDoNotReplaceTheSameVersion() async throws {
        try await withControlFolder { folder in
            let stores = [
                try await SQLiteStores(folder: folder).control(), try await SQLiteStores(folder: folder).control(),
            ]
            try await stores[0].insert(AppRecord(id: "tasks", createdAt: 1))
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask { [change = change("\(number)")] in
                        do {
                            _ = try await stores[number % 2].replaceRules(app: "tasks", expecting: 0, with: change)
                            return true
                        } catch let error as StoreError where error.code == .stale {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            expectEqual(winners, 1)
            try await expectEqual(stores[1].rulesHistory(app: "tasks", after: nil, limit: 10).count, 1)
        }
    }

    @Test func appsOfAStoreWithoutRulesAreOpen() async throws {
        try await withControlFolder { folder in
            try SQLiteControlSchema.makeFirstVersion(
                file: "\(folder)/control.sqlite",
                with: """
                    INSERT INTO apps VALUES ('old', 'partition', 'enabled', 1, 1, 30, 4, 1, 1, 7);
                    INSERT INTO users VALUES ('old', 'u1', '[]', NULL, 0, 5);
                    """)
            let store = try await SQLiteStores(folder: folder).control()
            let app = try #require(try await store.app("old"))
            expectTrue(app.rulesVersion == 1 && app.onReadDenied == .keep && app.onWriteDenied == .discard)
            let rules = try #require(try await AppRules(store: store).document(of: app))
            expectTrue(rules.generated == "upgrade" && rules.summary(for: .partition).contains("made by an upgrade"))
            expectEqual(rules.partitionRights(of: RuleUser(id: "u"), partition: "\"x\""), .readWrite)
            // What was stored is what the template says, marked.
            let record = try #require(try await store.rules(app: "old", version: 1))
            expectTrue(record.document == rules.bytes && record.author == "upgrade" && record.at > 1_700_000_000_000)
            let template = try #require(RulesCheck("open").document).source.objectValue ?? [:]
            expectEqual(rules.source, .object(template.merging(["generated": "upgrade"]) { $1 }))
            try await expectTrue(store.user(app: "old", id: "u1")?.customData == nil)
            // A new app of the same store gets nothing.
            try await store.insert(AppRecord(id: "new", createdAt: 1))
            try await expectEqual(store.app("new")?.rulesVersion, 0)
        }
    }

    /// Rules beside a literal hold of what a user lacks: what cannot be read must not be taken for that.
    @Test func customDataThatCannotBeReadIsNotTakenForNone() {
        for (text, isKnown) in [
            (nil, true), ("{}", true), (#"{"a":1}"#, true), ("{", false), ("[]", false), ("", false),
        ] {
            let record = UserRecord(
                app: "tasks", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1, customData: text)
            let user = RuleUser(record)
            expectEqual(user.isCustomDataKnown, isKnown, "\(text ?? "none")")
            expectEqual(user.customData.keys.sorted(), (text == #"{"a":1}"# ? ["a"] : []))
        }
    }

    // MARK: What is remembered of rules

    @Test func rulesAreReadOnceAVersion() async throws {
        let store = try await SQLiteStores.inMemory().control()
        let rules = AppRules(store: store)
        var app = AppRecord(id: "tasks", createdAt: 1)
        try await store.insert(app)
        try await expectTrue(rules.document(of: app) == nil)
        for (version, template) in [(UInt64(0), "open"), (1, "none")] {
            let document = try #require(RulesCheck(.string(template)).document)
            _ = try await store.replaceRules(
                app: "tasks", expecting: version,
                with: RulesChange(document: document.bytes, author: "ops", at: 1))
        }
        let user = RuleUser(id: "u")
        // A process that has an older record of the app decides by the rules of that time.
        for (version, rights) in [(UInt64(1), PartitionRights.readWrite), (2, .none), (1, .readWrite)] {
            app.rulesVersion = version
            try await expectEqual(rules.document(of: app)?.partitionRights(of: user, partition: "\"x\""), rights)
        }
        app.rulesVersion = 3
        let unknown = await #expect(throws: StoreError.self) { _ = try await rules.document(of: app) }
        expectEqual(unknown?.code, .stale)
        _ = try await store.replaceRules(app: "tasks", expecting: 2, with: change("{\"odd\":1}"))
        let damaged = await #expect(throws: StoreError.self) { _ = try await rules.document(of: app) }
        expectTrue(damaged?.code == .corrupt && damaged?.message.contains("/odd") == true)
    }

    // MARK: Users

    private func user(_ id: String, app: String = "tasks") -> UserRecord {
        UserRecord(app: app, id: id, identities: [], email: nil, isDisabled: false, createdAt: 5)
    }

    private func session(_ id: String, of user: String, app: String = "tasks") -> LoginSessionRecord {
        LoginSessionRecord(
            id: id, app: app, userID: user, deviceID: "d", createdAt: 10, lastUsedAt: 10, expiresAt: 100,
            isRevoked: false, origin: nil)
    }

    @Test(arguments: ControlVariant.allCases)
    func everyChangeOfAUserIsCounted(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await store.insert(user("u1"))
            func version() async throws -> UInt64? { try await store.app("tasks")?.usersVersion }
            try await expectEqual(version(), 0)
            try await store.setDisabled(true, app: "tasks", user: "u1")
            try await expectEqual(version(), 1)
            try await store.setCustomData(#"{"team":"red"}"#, app: "tasks", user: "u1")
            try await expectEqual(version(), 2)
            try await expectEqual(store.user(app: "tasks", id: "u1")?.customData, #"{"team":"red"}"#)
            try await store.setCustomData(nil, app: "tasks", user: "u1")
            try await expectEqual(version(), 3)
            try await expectTrue(store.user(app: "tasks", id: "u1")?.customData == nil)
            let large = String(repeating: "x", count: UserRecord.maxCustomDataBytes + 1)
            let full = await #expect(throws: StoreError.self) {
                try await store.setCustomData(large, app: "tasks", user: "u1")
            }
            expectEqual(full?.code, .full)
            for body in [
                { try await store.setDisabled(true, app: "tasks", user: "none") },
                { try await store.setCustomData("{}", app: "tasks", user: "none") },
                { try await store.removeUser(app: "tasks", id: "none") },
            ] as [() async throws -> Void] {
                let missing = await #expect(throws: StoreError.self) { try await body() }
                expectEqual(missing?.code, .notFound)
            }
            try await expectEqual(version(), 3)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func usersAreListedByID(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            for id in ["c", "a", "b", "d"] { try await store.insert(user(id)) }
            try await store.insert(user("aa", app: "other"))
            try await expectEqual(store.users(app: "tasks", after: nil, limit: 3).map(\.id), ["a", "b", "c"])
            try await expectEqual(store.users(app: "tasks", after: "c", limit: 3).map(\.id), ["d"])
            try await expectTrue(store.users(app: "none", after: nil, limit: 3).isEmpty)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aRemovedUserLeavesNothingBehind(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let password = PasswordRecord(app: "tasks", email: "a@b.c", passwordHash: "h", userID: nil)
            try await store.register(password)
            _ = try await store.adopt(user("u1"), app: "tasks", email: "a@b.c")
            try await store.insert(user("u2"))
            try await store.insert(session("s1", of: "u1"))
            try await store.insert(session("s2", of: "u2"))
            try await store.removeUser(app: "tasks", id: "u1")
            try await expectTrue(store.user(app: "tasks", id: "u1") == nil)
            try await expectTrue(store.loginSession("s1") == nil)
            try await expectTrue(store.password(app: "tasks", email: "a@b.c") == nil)
            try await expectTrue(store.user(app: "tasks", id: "u2") != nil)
            try await expectTrue(store.loginSession("s2") != nil)
            try await expectEqual(store.app("tasks")?.usersVersion, 1)
            try await store.register(password)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func loginsAreRevokedByUserAndByApp(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await store.insert(session("s1", of: "u1"))
            try await store.insert(session("s2", of: "u1"))
            try await store.insert(session("s3", of: "u2"))
            try await store.insert(session("s4", of: "u1", app: "other"))
            try await expectEqual(store.revokeLoginSessions(app: "tasks", user: "u1"), 2)
            try await expectEqual(store.loginSession("s1")?.isRevoked, true)
            try await expectEqual(store.loginSession("s3")?.isRevoked, false)
            try await expectEqual(store.revokeLoginSessions(app: "tasks", user: nil), 1)
            try await expectEqual(store.loginSession("s3")?.isRevoked, true)
            try await expectEqual(store.loginSession("s4")?.isRevoked, false)
            try await expectEqual(store.app("tasks")?.usersVersion, 2)
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.revokeLoginSessions(app: "none", user: nil)
            }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test func rulesSeeAUserAsItsRecordSays() {
        var record = user("u1")
        // Rules that name an address mean whoever has registered it, in whatever spelling.
        record.email = "A@b.C"
        record.identities = [.init(id: "i1", provider: "local-userpass")]
        record.customData = #"{"team":"red","since":{"$date":{"$numberLong":"5"}}}"#
        let seen = RuleUser(record)
        expectTrue(seen.id == "u1" && seen.kind == .normal && seen.data == ["email": .string("a@b.c")])
        expectEqual(seen.customData, ["team": .string("red"), "since": .date(5)])
        expectEqual(seen.identities.first?.data, ["email": .string("a@b.c")])
        record.customData = "{"
        expectTrue(RuleUser(record).customData.isEmpty)
        // A program is the user whose key it has, but for how it has logged in.
        expectEqual(RuleUser(record, kind: .server).kind, .server)
    }
}
