package import Foundation

// MARK: - Users and passwords

extension SQLControlStore {
    package func user(app: String, id: String) async throws(StoreError) -> UserRecord? {
        try await records(
            "the user", "SELECT * FROM users WHERE app = $1 AND id = $2", [.text(app), .text(id)],
            as: UserRecord.init(row:)
        ).first
    }

    package func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord] {
        try await records(
            "the users", "SELECT * FROM users WHERE app = $1 AND id > $2 ORDER BY id LIMIT $3",
            [.text(app), .text(after ?? ""), .count(max(limit, 0))], as: UserRecord.init(row:))
    }

    package func userCount(app: String) async throws(StoreError) -> Int {
        try await records(
            "the number of users", "SELECT count(*) AS count FROM users WHERE app = $1", [.text(app)]
        ) { try $0.integer("count") }.first ?? 0
    }

    package func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        // In one statement, so that the version and the changes are of one moment.
        let rows = try await records(
            "the changes of users",
            """
            SELECT users_version, version, "user" FROM apps
            LEFT JOIN user_changes ON user_changes.app = apps.id AND version > $2 WHERE apps.id = $1
            """, [.text(app), .number(version)]
        ) { row in
            (
                newest: try row.unsigned("users_version"), change: try row.integerIfAny("version"),
                user: try row.textIfAny("user")
            )
        }
        guard let newest = rows.first?.newest, newest >= version else { return nil }
        let changes = rows.filter { $0.change != nil }
        let users = changes.compactMap(\.user)
        // A change without a user may be one of any.
        guard UInt64(changes.count) == newest - version, users.count == changes.count else { return nil }
        return Set(users)
    }

    package func register(_ password: PasswordRecord) async throws(StoreError) {
        let count = try await run(
            "the registration",
            """
            INSERT INTO passwords AS known (app, email, hash, "user", pending, spelling)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (app, email) DO UPDATE
                SET hash = excluded.hash, pending = excluded.pending, spelling = excluded.spelling
                WHERE known.pending IS NOT NULL
            """,
            [
                .text(password.app), .text(password.email), .text(password.passwordHash), .text(password.userID),
                .text(password.pending), .text(password.spelling),
            ])
        guard count > 0 else { throw StoreError(.alreadyExists, "the address is registered already") }
    }

    package func password(app: String, email: String) async throws(StoreError) -> PasswordRecord? {
        try await records(
            "the registration", "SELECT * FROM passwords WHERE app = $1 AND email = $2", [.text(app), .text(email)],
            as: PasswordRecord.init(row:)
        ).first
    }
}

// MARK: - Logins

extension SQLControlStore {
    package func loginSession(_ id: String) async throws(StoreError) -> LoginSessionRecord? {
        try await records(
            "the login session", "SELECT * FROM login_sessions WHERE id = $1", [.text(id)],
            as: LoginSessionRecord.init(row:)
        ).first
    }

    package func hasLoginSession(app: String, user: String, origin: String) async throws(StoreError) -> Bool {
        try await !records(
            "the login sessions",
            "SELECT 1 FROM login_sessions WHERE app = $1 AND \"user\" = $2 AND origin = $3 LIMIT 1",
            [.text(app), .text(user), .text(origin)]
        ) { _ in true }.isEmpty
    }

    package func touchLoginSession(_ id: String, at: UInt64) async throws(StoreError) {
        try await run(
            "the login session", "UPDATE login_sessions SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1",
            [.number(at), .text(id)])
    }

    package func revokeLoginSession(_ id: String) async throws(StoreError) {
        try await run("the login session", "UPDATE login_sessions SET revoked = true WHERE id = $1", [.text(id)])
    }

    package func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
        try await records("the signing keys", "SELECT * FROM signing_keys", [], as: SigningKeyRecord.init(row:))
    }
}

// MARK: - Other ways to log in

extension SQLControlStore {
    package func loginSettings(app: String, provider: String) async throws(StoreError) -> Data? {
        try await records(
            "the login settings", "SELECT settings FROM login_settings WHERE app = $1 AND provider = $2",
            [.text(app), .text(provider)]
        ) { Data(try $0.bytes("settings")) }.first
    }

    package func loginSettings(app: String) async throws(StoreError) -> [String: Data] {
        let settings = try await records(
            "the login settings", "SELECT * FROM login_settings WHERE app = $1", [.text(app)]
        ) { (try $0.text("provider"), Data(try $0.bytes("settings"))) }
        return Dictionary(settings) { first, _ in first }
    }

    package func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord] {
        try await records(
            "the API keys", "SELECT * FROM api_keys WHERE app = $1 AND \"user\" = $2 ORDER BY created_at, id",
            [.text(app), .text(user)], as: APIKeyRecord.init(row:))
    }

    package func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord? {
        try await records(
            "the API key", "SELECT * FROM api_keys WHERE digest = $1 AND app = $2", [.text(digest), .text(app)],
            as: APIKeyRecord.init(row:)
        ).first
    }

    package func setAPIKeyDisabled(
        _ disabled: Bool, app: String, user: String, id: String
    ) async throws(StoreError) {
        let count = try await run(
            "the API key", "UPDATE api_keys SET disabled = $1 WHERE id = $2 AND app = $3 AND \"user\" = $4",
            [.boolean(disabled), .text(id), .text(app), .text(user)])
        guard count > 0 else { throw StoreError(.notFound, "the user has no such API key") }
    }

    package func removeAPIKey(app: String, user: String, id: String) async throws(StoreError) {
        let count = try await run(
            "the API key", "DELETE FROM api_keys WHERE id = $1 AND app = $2 AND \"user\" = $3",
            [.text(id), .text(app), .text(user)])
        guard count > 0 else { throw StoreError(.notFound, "the user has no such API key") }
    }

    package func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity] {
        try await records(
            "the user's identities",
            "SELECT * FROM external_identities WHERE app = $1 AND \"user\" = $2 ORDER BY provider, external_id",
            [.text(app), .text(user)], as: ExternalIdentity.init(row:))
    }

    package func mailToken(app: String, id: String, at now: UInt64) async throws(StoreError) -> MailTokenRecord? {
        try await records(
            "the mail's token", "SELECT * FROM mail_tokens WHERE id = $1 AND app = $2 AND expires_at > $3",
            [.text(id), .text(app), .number(now)], as: MailTokenRecord.init(row:)
        ).first.flatMap(\.self)
    }
}
