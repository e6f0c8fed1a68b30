import Foundation
import GRDB
import Storage

extension SQLiteAccountStore {
    // MARK: Settings

    func loginSettings(app: String, provider: String) async throws(StoreError) -> Data? {
        try await read("the login settings") { db in
            try Data.fetchOne(
                db, sql: "SELECT settings FROM login_settings WHERE app = ? AND provider = ?",
                arguments: [app, provider])
        }
    }

    func loginSettings(app: String) async throws(StoreError) -> [String: Data] {
        try await read("the login settings") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM login_settings WHERE app = ?", arguments: [app])
                .reduce(into: [:]) { $0[$1["provider"]] = $1["settings"] }
        }
    }

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

    func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord] {
        try await read("the API keys") { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM api_keys WHERE app = ? AND user = ? ORDER BY created_at, id",
                arguments: [app, user]
            ).map(APIKeyRecord.init(row:))
        }
    }

    func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord? {
        try await read("the API key") { db in
            try Row.fetchOne(
                db, sql: "SELECT * FROM api_keys WHERE digest = ? AND app = ?", arguments: [digest, app]
            ).map(APIKeyRecord.init(row:))
        }
    }

    func setAPIKeyDisabled(_ disabled: Bool, app: String, user: String, id: String) async throws(StoreError) {
        try await write("the API key") { db in
            try db.run(
                "UPDATE api_keys SET disabled = ? WHERE id = ? AND app = ? AND user = ?", disabled, id, app, user)
            guard db.changesCount > 0 else { throw StoreError(.notFound, "the user has no such API key") }
        }
    }

    func removeAPIKey(app: String, user: String, id: String) async throws(StoreError) {
        try await write("the API key") { db in
            try db.run("DELETE FROM api_keys WHERE id = ? AND app = ? AND user = ?", id, app, user)
            guard db.changesCount > 0 else { throw StoreError(.notFound, "the user has no such API key") }
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

    func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity] {
        try await read("the user's identities") { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM external_identities WHERE app = ? AND user = ? ORDER BY provider, external_id",
                arguments: [app, user]
            ).map { row in
                ExternalIdentity(
                    app: row["app"], provider: row["provider"], externalID: row["external_id"], userID: row["user"],
                    profile: try ExternalIdentity.profile(storedText: row["profile"]))
            }
        }
    }

    // MARK: Anonymous users

    func removeUnseenAnonymousUsers(
        before: UInt64, after: UserCursor?, limit: Int
    ) async throws(StoreError) -> (removed: Int, next: UserCursor?) {
        try await write("anonymous users") { db in
            let users = try Row.fetchAll(
                db,
                sql: """
                    SELECT app, id, created_at, identities FROM users WHERE (app, id) > (?, ?) ORDER BY app, id LIMIT ?
                    """, arguments: [after?.app ?? "", after?.user ?? "", max(limit, 1)])
            var removed = 0
            for row in users
            where row.unsigned("created_at") < before && UserRecord.Identity.isAnonymous(storedText: row["identities"])
            {
                let (app, id): (String, String) = (row["app"], row["id"])
                let isSeen = try Int.fetchOne(
                    db, sql: "SELECT 1 FROM login_sessions WHERE app = ? AND user = ? AND last_used_at >= ? LIMIT 1",
                    arguments: [app, id, sqlInteger(before)])
                guard isSeen == nil else { continue }
                try db.run("DELETE FROM login_sessions WHERE app = ? AND user = ?", app, id)
                try db.run("DELETE FROM users WHERE app = ? AND id = ?", app, id)
                removed += 1
            }
            let last = users.count == limit ? users.last : nil
            return (removed, last.map { UserCursor(app: $0["app"], user: $0["id"]) })
        }
    }
}

extension APIKeyRecord {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], app: row["app"], userID: row["user"], name: row["name"], digest: row["digest"],
            isDisabled: row["disabled"], createdAt: row.unsigned("created_at"))
    }
}
