import Foundation
import GRDB
import Storage

extension SQLiteAccountStore {
    // MARK: Settings

    func setLoginSettings(_ settings: Data?, app: String, provider: String) async throws(StoreError) {
        try await write("the login settings") { db in
            _ = try AppRecord.existing(app, db)
            guard let settings else {
                return try db.run("DELETE FROM login_settings WHERE app = ? AND provider = ?", app, provider)
            }
            try db.run(
                "INSERT OR REPLACE INTO login_settings (app, provider, settings) VALUES (?, ?, ?)", app, provider,
                settings)
        }
    }

    // MARK: API keys

    func insert(_ key: APIKeyRecord) async throws(StoreError) {
        try await write("the API key") { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM api_keys WHERE app = ? AND user = ?", arguments: [key.app, key.userID])
            guard !names.contains(key.name) else {
                throw StoreError(.alreadyExists, "the user has an API key \(key.name) already")
            }
            guard names.count < APIKeyRecord.most else {
                throw StoreError(.full, "the user has \(names.count) API keys; \(APIKeyRecord.most) are allowed")
            }
            try db.run(
                """
                INSERT INTO api_keys (id, app, user, name, digest, disabled, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
                """, key.id, key.app, key.userID, key.name, key.digest, key.isDisabled, sqlInteger(key.createdAt))
        }
    }

    // MARK: Other services

    func adopt(
        _ user: UserRecord, provider: String, externalID: String, profile: [String: String]
    ) async throws(StoreError) -> String {
        try await write("the user") { db in
            let encoded = try ExternalIdentity.storedText(ofProfile: profile)
            let known = try String.fetchOne(
                db, sql: "SELECT user FROM external_identities WHERE app = ? AND provider = ? AND external_id = ?",
                arguments: [user.app, provider, externalID])
            if known == nil { try Self.insert(user, db) }
            try db.run(
                """
                INSERT OR REPLACE INTO external_identities (app, provider, external_id, user, profile)
                VALUES (?, ?, ?, ?, ?)
                """, user.app, provider, externalID, known ?? user.id, encoded)
            return known ?? user.id
        }
    }

    // MARK: Anonymous users

    func removeUnseenAnonymousUsers(
        before: UInt64, after: UserCursor?, limit: Int
    ) async throws(StoreError) -> (removed: Int, next: UserCursor?) {
        try await write("anonymous users") { db in
            let users = try db.rows(
                """
                SELECT app, id, created_at, identities FROM users WHERE (app, id) > (?, ?) ORDER BY app, id LIMIT ?
                """, after?.app ?? "", after?.user ?? "", max(limit, 1))
            var removed = 0
            for row in users {
                guard try row.unsigned("created_at") < before,
                    UserRecord.Identity.isAnonymous(storedText: try row.text("identities"))
                else { continue }
                let (app, id) = (try row.text("app"), try row.text("id"))
                let isSeen = try Int.fetchOne(
                    db, sql: "SELECT 1 FROM login_sessions WHERE app = ? AND user = ? AND last_used_at >= ? LIMIT 1",
                    arguments: [app, id, sqlInteger(before)])
                guard isSeen == nil else { continue }
                try db.run("DELETE FROM login_sessions WHERE app = ? AND user = ?", app, id)
                try db.run("DELETE FROM users WHERE app = ? AND id = ?", app, id)
                removed += 1
            }
            let last = users.count == limit ? users.last : nil
            return (removed, try last.map { UserCursor(app: try $0.text("app"), user: try $0.text("id")) })
        }
    }
}
