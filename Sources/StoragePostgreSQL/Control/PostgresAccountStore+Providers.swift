import Foundation
import Storage

extension PostgresAccountStore {
    // MARK: Settings

    func loginSettings(app: String, provider: String) async throws(StoreError) -> Data? {
        try await database.read("the login settings") { queries in
            try await queries.rows(
                "SELECT settings FROM login_settings WHERE app = $1 AND provider = $2", app, provider
            ).first.map { Data(try $0.bytes("settings")) }
        }
    }

    func loginSettings(app: String) async throws(StoreError) -> [String: Data] {
        try await database.read("the login settings") { queries in
            try await queries.rows("SELECT * FROM login_settings WHERE app = $1", app)
                .reduce(into: [:]) { $0[try $1.text("provider")] = Data(try $1.bytes("settings")) }
        }
    }

    func setLoginSettings(_ settings: Data?, app: String, provider: String) async throws(StoreError) {
        try await database.change("the login settings") { transaction in
            _ = try await AppRecord.locked(app, transaction)
            guard let settings else {
                try await transaction.run(
                    "DELETE FROM login_settings WHERE app = $1 AND provider = $2", app, provider)
                return
            }
            try await transaction.run(
                """
                INSERT INTO login_settings (app, provider, settings) VALUES ($1, $2, $3)
                ON CONFLICT (app, provider) DO UPDATE SET settings = excluded.settings
                """, app, provider, settings)
        }
    }

    // MARK: API keys

    func insert(_ key: APIKeyRecord) async throws(StoreError) {
        try await database.change("the API key") { transaction in
            // A user's keys are counted by one transaction at a time.
            _ = try await transaction.rows(
                "SELECT 1 FROM users WHERE app = $1 AND id = $2 FOR UPDATE", key.app, key.userID)
            let names = try await transaction.rows(
                "SELECT name FROM api_keys WHERE app = $1 AND \"user\" = $2", key.app, key.userID
            ).map { try $0.text("name") }
            guard !names.contains(key.name) else {
                throw StoreError(.alreadyExists, "the user has an API key \(key.name) already")
            }
            guard names.count < APIKeyRecord.most else {
                throw StoreError(.full, "the user has \(names.count) API keys; \(APIKeyRecord.most) are allowed")
            }
            try await transaction.run(
                """
                INSERT INTO api_keys (id, app, "user", name, digest, disabled, created_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                """, key.id, key.app, key.userID, key.name, key.digest, key.isDisabled, key.createdAt)
        }
    }

    func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord] {
        try await database.read("the API keys") { queries in
            try await queries.rows(
                "SELECT * FROM api_keys WHERE app = $1 AND \"user\" = $2 ORDER BY created_at, id", app, user
            ).map(APIKeyRecord.init(row:))
        }
    }

    func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord? {
        try await database.read("the API key") { queries in
            try await queries.rows("SELECT * FROM api_keys WHERE digest = $1 AND app = $2", digest, app).first
                .map(APIKeyRecord.init(row:))
        }
    }

    func setAPIKeyDisabled(_ disabled: Bool, app: String, user: String, id: String) async throws(StoreError) {
        let count = try await database.run(
            "the API key", "UPDATE api_keys SET disabled = $1 WHERE id = $2 AND app = $3 AND \"user\" = $4", disabled,
            id, app, user)
        guard count > 0 else { throw StoreError(.notFound, "the user has no such API key") }
    }

    func removeAPIKey(app: String, user: String, id: String) async throws(StoreError) {
        let count = try await database.run(
            "the API key", "DELETE FROM api_keys WHERE id = $1 AND app = $2 AND \"user\" = $3", id, app, user)
        guard count > 0 else { throw StoreError(.notFound, "the user has no such API key") }
    }

    // MARK: Other services

    func adopt(
        _ user: UserRecord, provider: String, externalID: String, profile: [String: String]
    ) async throws(StoreError) -> String {
        try await database.change("the user") { transaction in
            let (id, isNew) = try await Self.put(
                provider: provider, externalID: externalID, profile: profile, of: user.id, app: user.app, transaction)
            if isNew { try await Self.insert(user, transaction) }
            return id
        }
    }

    func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity] {
        try await database.read("the user's identities") { queries in
            try await queries.rows(
                """
                SELECT * FROM external_identities WHERE app = $1 AND "user" = $2 ORDER BY provider, external_id
                """, app, user
            ).map { row in
                ExternalIdentity(
                    app: try row.text("app"), provider: try row.text("provider"),
                    externalID: try row.text("external_id"), userID: try row.text("user"),
                    profile: try ExternalIdentity.profile(storedText: try row.text("profile")))
            }
        }
    }

    // MARK: Anonymous users

    func removeUnseenAnonymousUsers(
        before: UInt64, after: UserCursor?, limit: Int
    ) async throws(StoreError) -> (removed: Int, next: UserCursor?) {
        try await database.change("anonymous users") { transaction in
            let users = try await transaction.rows(
                """
                SELECT app, id, created_at, identities FROM users WHERE (app, id) > ($1, $2) ORDER BY app, id LIMIT $3
                """, after?.app ?? "", after?.user ?? "", max(limit, 1))
            let old = try users.filter { row in
                try row.unsigned("created_at") < before
                    && UserRecord.Identity.isAnonymous(storedText: try row.text("identities"))
            }
            let gone = try await transaction.rows(
                """
                DELETE FROM users WHERE (app, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
                    AND NOT EXISTS (SELECT 1 FROM login_sessions AS logins
                        WHERE logins.app = users.app AND logins."user" = users.id AND logins.last_used_at >= $3)
                RETURNING app, id
                """, try old.map { try $0.text("app") }, try old.map { try $0.text("id") }, before)
            let apps = try Dictionary(grouping: gone) { try $0.text("app") }
            for (app, users) in apps {
                try await Self.removeWhatIsOf(try users.map { try $0.text("id") }, app: app, transaction)
            }
            let last = users.count == limit ? users.last : nil
            return (gone.count, try last.map { UserCursor(app: try $0.text("app"), user: try $0.text("id")) })
        }
    }
}

extension APIKeyRecord {
    fileprivate init(row: ControlRow) throws {
        self.init(
            id: try row.text("id"), app: try row.text("app"), userID: try row.text("user"), name: try row.text("name"),
            digest: try row.text("digest"), isDisabled: try row.boolean("disabled"),
            createdAt: try row.unsigned("created_at"))
    }
}
