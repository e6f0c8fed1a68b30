import GRDB
import Storage

/// Users, their ways to log in, and what signs their tokens.
struct SQLiteAccountStore: AccountStore, SQLiteControlPart {
    let database: any DatabaseWriter

    func user(app: String, id: String) async throws(StoreError) -> UserRecord? {
        try await read("the user") { try Self.user(app: app, id: id, $0) }
    }

    func insert(_ user: UserRecord) async throws(StoreError) {
        try await write("the user") { try Self.insert(user, $0) }
    }

    func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord] {
        try await read("the users") { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM users WHERE app = ? AND id > ? ORDER BY id LIMIT ?",
                arguments: [app, after ?? "", max(limit, 0)]
            ).map(UserRecord.init(row:))
        }
    }

    func userCount(app: String) async throws(StoreError) -> Int {
        try await read("the number of users") { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM users WHERE app = ?", arguments: [app]) ?? 0
        }
    }

    func setDisabled(_ disabled: Bool, app: String, user: String) async throws(StoreError) {
        try await write("the user") { db in
            try db.run("UPDATE users SET disabled = ? WHERE app = ? AND id = ?", disabled, app, user)
            try Self.userChanged(app: app, user: user, db)
        }
    }

    func setCustomData(_ customData: String?, app: String, user: String) async throws(StoreError) {
        let customData = try UserRecord.checked(customData: customData)
        try await write("the user's custom data") { db in
            try db.run("UPDATE users SET custom_data = ? WHERE app = ? AND id = ?", customData, app, user)
            try Self.userChanged(app: app, user: user, db)
        }
    }

    func removeUser(app: String, id: String) async throws(StoreError) {
        try await write("the user") { db in
            try db.run("DELETE FROM login_sessions WHERE app = ? AND user = ?", app, id)
            try db.run("DELETE FROM passwords WHERE app = ? AND user = ?", app, id)
            try db.run("DELETE FROM users WHERE app = ? AND id = ?", app, id)
            try Self.userChanged(app: app, user: id, db)
        }
    }

    /// Counts the change that the statement before has made of a user.
    private static func userChanged(app: String, user: String, _ db: Database) throws {
        guard db.changesCount > 0 else { throw StoreError(.notFound, "there is no user \(user) of app \(app)") }
        try usersChanged(app: app, user: user, db)
    }

    /// - Parameter user: the one that was changed; nil if all may have been.
    static func usersChanged(app: String, user: String?, _ db: Database) throws {
        try db.run("UPDATE apps SET users_version = users_version + 1 WHERE id = ?", app)
        try db.run(
            "INSERT OR REPLACE INTO user_changes (app, version, user) SELECT id, users_version, ? FROM apps WHERE id = ?",
            user, app)
        try db.run(
            "DELETE FROM user_changes WHERE app = ? AND version <= (SELECT users_version FROM apps WHERE id = ?) - ?",
            app, app, sqlInteger(UserRecord.keptChanges))
    }

    func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await read("the changes of users") { db in
            guard let newest = try AppRecord.fetchOne(db, key: app)?.usersVersion, newest >= version else { return nil }
            let changes = try Row.fetchAll(
                db, sql: "SELECT user FROM user_changes WHERE app = ? AND version > ?",
                arguments: [app, sqlInteger(version)])
            guard UInt64(changes.count) == newest - version else { return nil }
            var users: Set<String> = []
            for change in changes {
                guard let user: String = change[0] else { return nil }
                users.insert(user)
            }
            return users
        }
    }

    func register(_ password: PasswordRecord) async throws(StoreError) {
        try await write("the registration") { db in
            if let registered = try Self.password(app: password.app, email: password.email, db) {
                guard registered.pending != nil else {
                    throw StoreError(.alreadyExists, "the address is registered already")
                }
                try db.run(
                    "UPDATE passwords SET hash = ?, pending = ? WHERE app = ? AND email = ?", password.passwordHash,
                    password.pending, password.app, password.email)
                return
            }
            try db.run(
                "INSERT INTO passwords (app, email, hash, user, pending) VALUES (?, ?, ?, ?, ?)", password.app,
                password.email, password.passwordHash, password.userID, password.pending)
        }
    }

    func password(app: String, email: String) async throws(StoreError) -> PasswordRecord? {
        try await read("the registration") { try Self.password(app: app, email: email, $0) }
    }

    func setPasswordHash(
        _ hash: String, replacing old: String, app: String, email: String
    ) async throws(StoreError) {
        try await write("the registration") { db in
            guard let registered = try Self.password(app: app, email: email, db) else {
                throw StoreError(.notFound, "the address is not registered")
            }
            guard registered.passwordHash == old else { return }
            try db.run("UPDATE passwords SET hash = ? WHERE app = ? AND email = ?", hash, app, email)
        }
    }

    func adopt(_ user: UserRecord, app: String, email: String) async throws(StoreError) -> String {
        try await write("the user") { db in
            guard let registered = try Self.password(app: app, email: email, db) else {
                throw StoreError(.notFound, "the address is not registered")
            }
            if let known = registered.userID { return known }
            try Self.insert(user, db)
            try db.run("UPDATE passwords SET user = ? WHERE app = ? AND email = ?", user.id, app, email)
            return user.id
        }
    }

    func insert(_ session: LoginSessionRecord) async throws(StoreError) {
        try await write("the login session") { db in
            // A few at a time keeps the table as large as what still lives.
            try db.run(
                """
                DELETE FROM login_sessions WHERE id IN
                    (SELECT id FROM login_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT 20)
                """, sqlInteger(session.createdAt))
            try db.run(
                """
                INSERT INTO login_sessions (id, app, user, device, created_at, last_used_at, expires_at, revoked, origin)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, session.id, session.app, session.userID, session.deviceID, sqlInteger(session.createdAt),
                sqlInteger(session.lastUsedAt), sqlInteger(session.expiresAt), session.isRevoked, session.origin)
        }
    }

    func loginSession(_ id: String) async throws(StoreError) -> LoginSessionRecord? {
        try await read("the login session") { db in
            try Row.fetchOne(db, sql: "SELECT * FROM login_sessions WHERE id = ?", arguments: [id]).map { row in
                LoginSessionRecord(
                    id: row["id"], app: row["app"], userID: row["user"], deviceID: row["device"],
                    createdAt: row.unsigned("created_at"), lastUsedAt: row.unsigned("last_used_at"),
                    expiresAt: row.unsigned("expires_at"), isRevoked: row["revoked"], origin: row["origin"])
            }
        }
    }

    func hasLoginSession(app: String, user: String, origin: String) async throws(StoreError) -> Bool {
        try await read("the login sessions") { db in
            try Int.fetchOne(
                db, sql: "SELECT 1 FROM login_sessions WHERE app = ? AND user = ? AND origin = ? LIMIT 1",
                arguments: [app, user, origin]) != nil
        }
    }

    func touchLoginSession(_ id: String, at: UInt64) async throws(StoreError) {
        try await write("the login session") { db in
            try db.run("UPDATE login_sessions SET last_used_at = MAX(last_used_at, ?) WHERE id = ?", sqlInteger(at), id)
        }
    }

    func revokeLoginSession(_ id: String) async throws(StoreError) {
        try await write("the login session") { db in
            try db.run("UPDATE login_sessions SET revoked = 1 WHERE id = ?", id)
        }
    }

    func revokeLoginSessions(app: String, user: String?) async throws(StoreError) -> Int {
        try await write("the login sessions") { db in
            _ = try AppRecord.existing(app, db)
            try db.run(
                "UPDATE login_sessions SET revoked = 1 WHERE app = ? AND revoked = 0 AND user = IFNULL(?, user)", app,
                user)
            let count = db.changesCount
            try Self.usersChanged(app: app, user: user, db)
            return count
        }
    }

    func signingKeys(
        purpose: String, orCreate candidate: SigningKeyRecord
    ) async throws(StoreError) -> [SigningKeyRecord] {
        try await write("the signing keys") { db in
            let known = try Self.signingKeys(purpose: purpose, db)
            if !known.isEmpty { return known }
            guard candidate.purpose == purpose else {
                throw StoreError(.mismatch, "the new key is for \(candidate.purpose), expected \(purpose)")
            }
            try Self.insert(candidate, db)
            return try Self.signingKeys(purpose: purpose, db)
        }
    }

    func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
        try await read("the signing keys") {
            try Row.fetchAll($0, sql: "SELECT * FROM signing_keys").map(Self.signingKey)
        }
    }

    func addSigningKey(_ key: SigningKeyRecord, unlessNewerThan limit: UInt64) async throws(StoreError) -> Bool {
        try await write("the signing keys") { db in
            let newest = try Self.signingKeys(purpose: key.purpose, db).first?.createdAt
            if let newest, newest > limit { return false }
            var key = key
            key.createdAt = max(key.createdAt, newest.map { $0 &+ 1 } ?? 0)
            try Self.insert(key, db)
            return true
        }
    }

    func removeSigningKeys(_ ids: [String]) async throws(StoreError) {
        try await write("the signing keys") { db in
            for id in ids { try db.run("DELETE FROM signing_keys WHERE id = ?", id) }
        }
    }

    private static func insert(_ key: SigningKeyRecord, _ db: Database) throws {
        try db.run(
            "INSERT INTO signing_keys VALUES (?, ?, ?, ?)", key.id, key.purpose, key.privateKeyPEM,
            sqlInteger(key.createdAt))
    }

    static func user(app: String, id: String, _ db: Database) throws -> UserRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM users WHERE app = ? AND id = ?", arguments: [app, id])
            .map(UserRecord.init(row:))
    }

    static func insert(_ user: UserRecord, _ db: Database) throws {
        guard try Self.user(app: user.app, id: user.id, db) == nil else {
            throw StoreError(.alreadyExists, "there is a user \(user.id) of app \(user.app) already")
        }
        try db.run(
            "INSERT INTO users (app, id, identities, email, disabled, created_at, custom_data) VALUES (?, ?, ?, ?, ?, ?, ?)",
            user.app, user.id, try UserRecord.Identity.storedText(user.identities), user.email, user.isDisabled,
            sqlInteger(user.createdAt),
            user.customData)
    }

    static func password(app: String, email: String, _ db: Database) throws -> PasswordRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM passwords WHERE app = ? AND email = ?", arguments: [app, email])
            .map {
                PasswordRecord(
                    app: $0["app"], email: $0["email"], passwordHash: $0["hash"], userID: $0["user"],
                    pending: $0["pending"])
            }
    }

    private static func signingKeys(purpose: String, _ db: Database) throws -> [SigningKeyRecord] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM signing_keys WHERE purpose = ? ORDER BY created_at DESC, id", arguments: [purpose]
        ).map(signingKey)
    }

    private static func signingKey(_ row: Row) -> SigningKeyRecord {
        SigningKeyRecord(
            id: row["id"], purpose: row["purpose"], privateKeyPEM: row["pem"], createdAt: row.unsigned("created_at"))
    }
}

extension UserRecord {
    fileprivate init(row: Row) throws {
        self.init(
            app: row["app"], id: row["id"],
            identities: try UserRecord.Identity.list(storedText: row["identities"]), email: row["email"],
            isDisabled: row["disabled"], createdAt: row.unsigned("created_at"),
            customData: row["custom_data"])
    }
}
