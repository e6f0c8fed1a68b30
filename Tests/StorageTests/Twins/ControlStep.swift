import SeededRandom
import Storage
import SyncModel

/// One thing that is done with every engine's control store.
struct ControlStep: Sendable, CustomStringConvertible {
    let description: String
    private let run: @Sendable (any ControlStore) async throws(StoreError) -> (any Equatable & Sendable)?

    init(
        _ description: String,
        _ run: @escaping @Sendable (any ControlStore) async throws(StoreError) -> (any Equatable & Sendable)?
    ) {
        self.description = description
        self.run = run
    }

    /// What came of it: a value, nothing, or an error of some kind.
    func outcome(on store: any ControlStore) async -> Reading {
        do {
            return Reading("outcome", try await run(store) ?? "done")
        } catch {
            return Reading("outcome", error.code)
        }
    }
}

/// Makes up the steps of a random run: the same ones from the same seed.
struct ControlStepMaker {
    static let apps = ["tasks", "notes", "a-b", "a_b"]
    static let users = ["a1", "b2", "c3"]
    static let emails = ["x@y.z", "ü@y.z"]
    static let tokens = ["ci", "a-1", "a_1", "b"]
    static let campaigns = (1...8).map { "c\($0)" }
    static let partitions = ["\"p\"", "\"P\"", "17", "null", "\"ä'%\""]

    private var random: SeededGenerator
    private(set) var now: UInt64 = 1_000
    /// How many logins there have been: none has the id of another, as none of random ids has.
    private var logins = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func below(_ count: Int) -> Int { random.below(count) }

    mutating func next() -> ControlStep {
        now += 1 + UInt64(random.below(50))
        switch random.below(12) {
        case 0: return app()
        case 1, 2: return rules()
        case 3, 4: return user()
        case 5: return address()
        case 6, 7: return session()
        case 8: return token()
        case 9: return audit()
        default: return campaign()
        }
    }

    private mutating func app() -> ControlStep {
        let (id, now) = (random.pick(Self.apps), now)
        let days = random.below(90)
        guard random.below(2) == 0 else {
            return ControlStep("change app \(id): offline days \(days)") { store throws(StoreError) in
                try await store.updateApp(id) { app in
                    app.maxOfflineDays = days
                    app.syncState = days % 2 == 0 ? .paused : .enabled
                    // What versions count is not changed so.
                    app.rulesVersion = 77
                    app.usersVersion = 77
                }
            }
        }
        let rules = random.below(2) == 0 ? RulesChange(document: random.bytes(20), author: "me", at: now) : nil
        return ControlStep("make app \(id), rules \(String(describing: rules))") { store throws(StoreError) in
            try await store.insert(AppRecord(id: id, maxOfflineDays: days, createdAt: now), rules: rules)
            return nil
        }
    }

    private mutating func rules() -> ControlStep {
        let (app, version) = (random.pick(Self.apps), UInt64(random.below(6)))
        let change = RulesChange(document: random.bytes(20), author: "somebody ä", at: now)
        return ControlStep("rules of \(app) instead of version \(version): \(change)") { store throws(StoreError) in
            // Mostly those that replace the version in force.
            let current = version > 0 ? try await store.app(app)?.rulesVersion : nil
            return try await store.replaceRules(app: app, expecting: current ?? version, with: change)
        }
    }

    private mutating func record(_ app: String, _ id: String) -> UserRecord {
        UserRecord(
            app: app, id: id, identities: [.init(id: "0123", provider: "anon-user")],
            email: random.below(2) == 0 ? random.pick(Self.emails) : nil, isDisabled: random.below(2) == 0,
            createdAt: now)
    }

    private mutating func user() -> ControlStep {
        let (app, id) = (random.pick(Self.apps), random.pick(Self.users))
        switch random.below(6) {
        case 0:
            return ControlStep("remove user \(id) of \(app)") { store throws(StoreError) in
                try await store.removeUser(app: app, id: id)
                return nil
            }
        case 1:
            let data = random.below(8) == 0 ? String(repeating: "{", count: 20_000) : "{\"a\":\(now)}"
            return ControlStep("custom data of \(id) of \(app): \(data.prefix(30))") { store throws(StoreError) in
                try await store.setCustomData(data, app: app, user: id)
                return nil
            }
        case 2:
            let isDisabled = random.below(2) == 0
            return ControlStep("user \(id) of \(app) disabled: \(isDisabled)") { store throws(StoreError) in
                try await store.setDisabled(isDisabled, app: app, user: id)
                return nil
            }
        default:
            let user = record(app, id)
            return ControlStep("insert \(user)") { store throws(StoreError) in
                try await store.insert(user)
                return nil
            }
        }
    }

    private mutating func address() -> ControlStep {
        let (app, email, hash) = (random.pick(Self.apps), random.pick(Self.emails), "hash \(random.below(3))")
        switch random.below(3) {
        case 0:
            let pending = random.below(2) == 0 ? "here" : nil
            let record = PasswordRecord(
                app: app, email: email, spelling: random.below(2) == 0 ? email.uppercased() : nil, passwordHash: hash,
                userID: nil, pending: pending)
            return ControlStep("register \(record)") { store throws(StoreError) in
                try await store.register(record)
                return nil
            }
        case 1:
            let user = record(app, random.pick(Self.users))
            return ControlStep("adopt \(user) for \(email)") { store throws(StoreError) in
                try await store.adopt(user, app: app, email: email)
            }
        default:
            return ControlStep("replace hash 1 of \(email) in \(app) by \(hash)") { store throws(StoreError) in
                try await store.setPasswordHash(hash, replacing: "hash 1", app: app, email: email)
                return nil
            }
        }
    }

    private mutating func session() -> ControlStep {
        let (app, user) = (random.pick(Self.apps), random.pick(Self.users))
        let (id, at) = ("s\(random.below(logins + 1))", now - UInt64(random.below(90)))
        switch random.below(6) {
        case 0:
            return ControlStep("touch login \(id) at \(at)") { store throws(StoreError) in
                try await store.touchLoginSession(id, at: at)
                return nil
            }
        case 1:
            return ControlStep("revoke login \(id)") { store throws(StoreError) in
                try await store.revokeLoginSession(id)
                return nil
            }
        case 2:
            let all = random.below(3) == 0
            return ControlStep("revoke logins of \(all ? "all" : user) in \(app)") { store throws(StoreError) in
                try await store.revokeLoginSessions(app: app, user: all ? nil : user)
            }
        default:
            logins += 1
            let session = LoginSessionRecord(
                id: "s\(logins)", app: app, userID: user, deviceID: "d", createdAt: now, lastUsedAt: now,
                expiresAt: now + UInt64(random.below(500)), isRevoked: false,
                origin: random.below(2) == 0 ? "o" : nil)
            return ControlStep("log in \(session)") { store throws(StoreError) in
                try await store.insert(session)
                return nil
            }
        }
    }

    private mutating func token() -> ControlStep {
        let name = random.pick(Self.tokens)
        guard random.below(3) > 0 else {
            return ControlStep("remove token \(name)") { store throws(StoreError) in
                try await store.removeAdminToken(name)
                return nil
            }
        }
        let token = AdminTokenRecord(
            name: name, digest: "digest of \(name)", role: random.pick(AdminRole.allCases), createdAt: now,
            createdBy: "ann")
        return ControlStep("insert \(token)") { store throws(StoreError) in
            try await store.insert(token)
            return nil
        }
    }

    private mutating func audit() -> ControlStep {
        let entry = AuditEntry(
            at: now, token: "ci", role: .own, method: "PUT", path: "/apps/\(random.below(9))",
            address: random.below(2) == 0 ? nil : "192.0.2.\(random.below(9))")
        let isDryRun = random.below(2) == 0
        let (status, most) = (random.below(3) * 100, 3 + random.below(3))
        return ControlStep("audit \(entry), keeping \(most), ended with \(status)") { store throws(StoreError) in
            let number = try await store.beginAudit(entry, keeping: most)
            if status > 0 {
                try await store.endAudit(number, status: status, details: "id=\(status)", isDryRun: isDryRun)
            }
            return nil
        }
    }
}
