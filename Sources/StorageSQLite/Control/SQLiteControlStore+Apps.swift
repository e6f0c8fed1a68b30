import Changesets
import GRDB
import Storage
import SyncModel

extension SQLiteControlStore {
    func app(_ id: String) async throws(StoreError) -> AppRecord? {
        try await read("the app") { try Self.app(id, $0) }
    }

    func apps() async throws(StoreError) -> [AppRecord] {
        try await read("the apps") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM apps ORDER BY id").map(AppRecord.init)
        }
    }

    func insert(_ app: AppRecord) async throws(StoreError) {
        try await write("the app") { db in
            guard try Self.app(app.id, db) == nil else {
                throw StoreError(.alreadyExists, "there is an app \(app.id) already")
            }
            try Self.save(app, db)
        }
    }

    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord {
        try await write("the app") { db in
            var app = try Self.existingApp(id, db)
            change(&app)
            app.id = id
            try Self.save(app, db)
            return app
        }
    }

    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try await write("the number of slices") { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO settings (name, value) VALUES ('slices', ?)", arguments: [String(count)])
            let text = try String.fetchOne(db, sql: "SELECT value FROM settings WHERE name = 'slices'")
            guard let text, let recorded = Int(text), recorded > 0 else {
                throw StoreError(.corrupt, "the recorded number of slices is not a number")
            }
            return recorded
        }
    }

    func userCount(app: String) async throws(StoreError) -> Int {
        try await read("the number of users") { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM users WHERE app = ?", arguments: [app]) ?? 0
        }
    }

    static func app(_ id: String, _ db: Database) throws -> AppRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM apps WHERE id = ?", arguments: [id]).map(AppRecord.init)
    }

    static func existingApp(_ id: String, _ db: Database) throws -> AppRecord {
        guard let app = try app(id, db) else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    static func save(_ app: AppRecord, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO apps (id, sync_mode, sync_state, development_mode, client_recovery, max_offline_days,
                    generation, anonymous_login, email_password_login, created_at, compatibility)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                app.id, app.syncMode.rawValue, app.syncState.rawValue, app.developmentMode, app.clientRecovery,
                app.maxOfflineDays, sqlInteger(app.generation), app.anonymousLogin, app.emailPasswordLogin,
                sqlInteger(app.createdAt), app.compatibility.rawValue,
            ])
    }
}

extension AppRecord {
    init(row: Row) throws {
        guard let mode = SyncMode(rawValue: row["sync_mode"]), let state = SyncState(rawValue: row["sync_state"]),
            let compatibility = PeerCompatibility(rawValue: row["compatibility"])
        else { throw StoreError(.corrupt, "an app's sync mode, state or compatibility is not known") }
        self.init(
            id: row["id"], syncMode: mode, syncState: state, compatibility: compatibility,
            developmentMode: row["development_mode"], clientRecovery: row["client_recovery"],
            maxOfflineDays: row["max_offline_days"],
            generation: row.unsigned("generation"), anonymousLogin: row["anonymous_login"],
            emailPasswordLogin: row["email_password_login"], createdAt: row.unsigned("created_at"))
    }
}
