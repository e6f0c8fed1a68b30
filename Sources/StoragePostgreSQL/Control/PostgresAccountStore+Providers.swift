import Foundation
import Storage

extension PostgresAccountStore {
    // MARK: Settings

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
