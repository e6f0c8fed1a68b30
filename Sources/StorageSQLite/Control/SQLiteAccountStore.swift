import GRDB
import Storage

/// Users, their ways to log in, and what signs their tokens.
protocol SQLiteAccountStore: SQLiteControlPart {}

extension SQLiteAccountStore {
    func insert(_ user: UserRecord) async throws(StoreError) {
        try await write("the user") { try Self.insert(user, $0) }
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
        try db.rows("SELECT * FROM users WHERE app = ? AND id = ?", app, id).first.map(UserRecord.init(row:))
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
        try db.rows("SELECT * FROM passwords WHERE app = ? AND email = ?", app, email).first
            .map(PasswordRecord.init(row:))
    }

    private static func signingKeys(purpose: String, _ db: Database) throws -> [SigningKeyRecord] {
        try db.rows("SELECT * FROM signing_keys WHERE purpose = ? ORDER BY created_at DESC, id", purpose)
            .map(SigningKeyRecord.init(row:))
    }
}
