import Foundation
import Rules
import Storage
import StorageSupport
import SyncModel
import Testing

@testable import StorageSQLite

/// Rules in the control store, and what counts the changes of an app.
@Suite(.timeLimit(.minutes(5))) struct ControlRulesTests {
    private func change(_ document: String, by author: String = "ops", at: UInt64 = 7) -> RulesChange {
        RulesChange(document: Array(document.utf8), author: author, at: at)
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppBeginsWithTheRulesThatItIsGivenOrNone(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "shut", rulesVersion: 9, createdAt: 1))
            try await store.insert(AppRecord(id: "open", createdAt: 1), rules: change("{}"))
            #expect(try await store.app("shut")?.rulesVersion == 0)
            #expect(try await store.rulesHistory(app: "shut", after: nil, limit: 10).isEmpty)
            #expect(try await store.app("open")?.rulesVersion == 1)
            #expect(
                try await store.rules(app: "open", version: 1)
                    == RulesRecord(app: "open", version: 1, document: Array("{}".utf8), author: "ops", at: 7))
            #expect(try await store.rules(app: "open", version: 2) == nil)
            let again = await #expect(throws: StoreError.self) {
                try await store.insert(AppRecord(id: "open", createdAt: 1), rules: change("{}"))
            }
            #expect(again?.code == .alreadyExists)
            #expect(try await store.app("open")?.rulesVersion == 1)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func onlyTheVersionInForceIsReplaced(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.replaceRules(app: "tasks", expecting: 0, with: change("a"))
            }
            #expect(missing?.code == .notFound)
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            #expect(try await store.replaceRules(app: "tasks", expecting: 0, with: change("a")).version == 1)
            #expect(try await store.replaceRules(app: "tasks", expecting: 1, with: change("b")).version == 2)
            for stale in [UInt64(0), 1, 3] {
                let error = await #expect(throws: StoreError.self) {
                    _ = try await store.replaceRules(app: "tasks", expecting: stale, with: change("c"))
                }
                #expect(error?.code == .stale && error?.message.contains("version 2") == true)
            }
            #expect(try await store.app("tasks")?.rulesVersion == 2)
            #expect(try await store.rules(app: "tasks", version: 2)?.document == Array("b".utf8))
            #expect(try await store.rules(app: "tasks", version: 3) == nil)
            // No change of settings touches what counts.
            let changed = try await store.updateApp("tasks") { app in
                app.rulesVersion = 77
                app.usersVersion = 77
                app.onReadDenied = .delete
                app.onWriteDenied = .error
            }
            #expect(changed.rulesVersion == 2 && changed.usersVersion == 0)
            #expect(try await store.app("tasks") == changed && changed.onReadDenied == .delete)
            #expect(changed.onWriteDenied == .error)
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
            #expect(all.map(\.version) == Array((21...count).reversed()))
            #expect(
                all.map(\.bytes) == all.map { Int($0.version) } && all.allSatisfy { $0.author == "ops" && $0.at == 7 })
            #expect(try await store.rules(app: "tasks", version: 20) == nil)
            #expect(try await store.rules(app: "tasks", version: 21) != nil)
            let page = try await store.rulesHistory(app: "tasks", after: 30, limit: 3)
            #expect(page.map(\.version) == [29, 28, 27])
            #expect(try await store.rulesHistory(app: "other", after: nil, limit: 10).map(\.version) == [1])
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
            #expect(winners == 1)
            #expect(try await stores[1].rulesHistory(app: "tasks", after: nil, limit: 10).count == 1)
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
            #expect(app.rulesVersion == 1 && app.onReadDenied == .keep && app.onWriteDenied == .discard)
            let rules = try #require(try await AppRules(store: store).document(of: app))
            #expect(rules.generated == "upgrade" && rules.summary.contains("made by an upgrade"))
            #expect(rules.partitionRights(of: RuleUser(id: "u"), partition: "\"x\"") == .readWrite)
            // What was stored is what the template says, marked.
            let record = try #require(try await store.rules(app: "old", version: 1))
            #expect(record.document == rules.bytes && record.author == "upgrade" && record.at > 1_700_000_000_000)
            let template = try #require(RulesCheck("open").document).source.objectValue ?? [:]
            #expect(rules.source == .object(template.merging(["generated": "upgrade"]) { $1 }))
            #expect(try await store.user(app: "old", id: "u1")?.customData == nil)
            // A new app of the same store gets nothing.
            try await store.insert(AppRecord(id: "new", createdAt: 1))
            #expect(try await store.app("new")?.rulesVersion == 0)
        }
    }

    // MARK: What is remembered of rules

    @Test func rulesAreReadOnceAVersion() async throws {
        let store = try await SQLiteStores.inMemory().control()
        let rules = AppRules(store: store)
        var app = AppRecord(id: "tasks", createdAt: 1)
        try await store.insert(app)
        #expect(try await rules.document(of: app) == nil)
        for (version, template) in [(UInt64(0), "open"), (1, "none")] {
            let document = try #require(RulesCheck(.string(template)).document)
            _ = try await store.replaceRules(
                app: "tasks", expecting: version,
                with: RulesChange(document: document.bytes, author: "ops", at: 1))
        }
        let user = RuleUser(id: "u")
        // Whoever has an older record of the app decides by the rules of that time.
        for (version, rights) in [(UInt64(1), PartitionRights.readWrite), (2, .none), (1, .readWrite)] {
            app.rulesVersion = version
            #expect(try await rules.document(of: app)?.partitionRights(of: user, partition: "\"x\"") == rights)
        }
        app.rulesVersion = 3
        let unknown = await #expect(throws: StoreError.self) { _ = try await rules.document(of: app) }
        #expect(unknown?.code == .stale)
        _ = try await store.replaceRules(app: "tasks", expecting: 2, with: change("{\"odd\":1}"))
        let damaged = await #expect(throws: StoreError.self) { _ = try await rules.document(of: app) }
        #expect(damaged?.code == .corrupt && damaged?.message.contains("/odd") == true)
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
            #expect(try await version() == 0)
            try await store.setDisabled(true, app: "tasks", user: "u1")
            #expect(try await version() == 1)
            try await store.setCustomData(#"{"team":"red"}"#, app: "tasks", user: "u1")
            #expect(try await version() == 2)
            #expect(try await store.user(app: "tasks", id: "u1")?.customData == #"{"team":"red"}"#)
            try await store.setCustomData(nil, app: "tasks", user: "u1")
            #expect(try await version() == 3)
            #expect(try await store.user(app: "tasks", id: "u1")?.customData == nil)
            let large = String(repeating: "x", count: UserRecord.maxCustomDataBytes + 1)
            let full = await #expect(throws: StoreError.self) {
                try await store.setCustomData(large, app: "tasks", user: "u1")
            }
            #expect(full?.code == .full)
            for body in [
                { try await store.setDisabled(true, app: "tasks", user: "none") },
                { try await store.setCustomData("{}", app: "tasks", user: "none") },
                { try await store.removeUser(app: "tasks", id: "none") },
            ] as [() async throws -> Void] {
                let missing = await #expect(throws: StoreError.self) { try await body() }
                #expect(missing?.code == .notFound)
            }
            #expect(try await version() == 3)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func usersAreListedByID(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            for id in ["c", "a", "b", "d"] { try await store.insert(user(id)) }
            try await store.insert(user("aa", app: "other"))
            #expect(try await store.users(app: "tasks", after: nil, limit: 3).map(\.id) == ["a", "b", "c"])
            #expect(try await store.users(app: "tasks", after: "c", limit: 3).map(\.id) == ["d"])
            #expect(try await store.users(app: "none", after: nil, limit: 3).isEmpty)
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
            #expect(try await store.user(app: "tasks", id: "u1") == nil)
            #expect(try await store.loginSession("s1") == nil)
            #expect(try await store.password(app: "tasks", email: "a@b.c") == nil)
            #expect(try await store.user(app: "tasks", id: "u2") != nil)
            #expect(try await store.loginSession("s2") != nil)
            #expect(try await store.app("tasks")?.usersVersion == 1)
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
            #expect(try await store.revokeLoginSessions(app: "tasks", user: "u1") == 2)
            #expect(try await store.loginSession("s1")?.isRevoked == true)
            #expect(try await store.loginSession("s3")?.isRevoked == false)
            #expect(try await store.revokeLoginSessions(app: "tasks", user: nil) == 1)
            #expect(try await store.loginSession("s3")?.isRevoked == true)
            #expect(try await store.loginSession("s4")?.isRevoked == false)
            #expect(try await store.app("tasks")?.usersVersion == 2)
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.revokeLoginSessions(app: "none", user: nil)
            }
            #expect(missing?.code == .notFound)
        }
    }

    @Test func rulesSeeAUserAsItsRecordSays() {
        var record = user("u1")
        // Rules that name an address mean whoever has registered it, in whatever spelling.
        record.email = "A@b.C"
        record.identities = [.init(id: "i1", provider: "local-userpass")]
        record.customData = #"{"team":"red","since":{"$date":{"$numberLong":"5"}}}"#
        let seen = RuleUser(record)
        #expect(seen.id == "u1" && seen.kind == .normal && seen.data == ["email": .string("a@b.c")])
        #expect(seen.customData == ["team": .string("red"), "since": .date(5)])
        #expect(seen.identities.first?.data == ["email": .string("a@b.c")])
        record.customData = "{"
        record.identities = [.init(id: "i1", provider: "api-key")]
        #expect(RuleUser(record).customData.isEmpty && RuleUser(record).kind == .server)
    }
}
