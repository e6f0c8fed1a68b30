import Changesets
import Foundation
import GRDB
import Storage
import SyncModel

/// A record whose properties are a table's columns, in snake case.
protocol SnakeCaseRow: Decodable, FetchableRecord, TableRecord {}

extension SnakeCaseRow {
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
}

extension AppRecord: SnakeCaseRow {
    static var databaseTableName: String { "apps" }

    static func existing(_ id: String, _ db: Database) throws -> AppRecord {
        guard let app = try fetchOne(db, key: id) else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    func save(_ db: Database) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO apps (id, sync_mode, sync_state, development_mode, client_recovery, max_offline_days,
                generation, anonymous_login, email_password_login, created_at, compatibility, on_read_denied,
                on_write_denied, rules_version, users_version, quotas, schema_version,
                client_schemas, migration)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, syncMode.rawValue, syncState.rawValue, developmentMode, clientRecovery, maxOfflineDays,
            sqlInteger(generation), anonymousLogin, emailPasswordLogin, sqlInteger(createdAt),
            compatibility.rawValue, onReadDenied.rawValue, onWriteDenied.rawValue, sqlInteger(rulesVersion),
            sqlInteger(usersVersion), try quotas.storedText(),
            sqlInteger(schemaVersion), try clientSchemas?.storedText(),
            try migration?.storedText())
    }
}

/// Apps with their settings, rules and schemas.
struct SQLiteAppStore: AppStore, SQLiteControlPart {
    let database: any DatabaseWriter

    func app(_ id: String) async throws(StoreError) -> AppRecord? {
        try await read("the app") { try AppRecord.fetchOne($0, key: id) }
    }

    func apps() async throws(StoreError) -> [AppRecord] {
        try await read("the apps") { try AppRecord.order(Column("id")).fetchAll($0) }
    }

    func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try await write("the app") { db in
            guard try !AppRecord.exists(db, key: app.id) else {
                throw StoreError(.alreadyExists, "there is an app \(app.id) already")
            }
            if let deletion = try AppDeletionRecord.fetch(app.id, db) { throw deletion.refusal }
            var app = app
            app.rulesVersion = 0
            if let rules {
                let record = try RulesRecord.replacing(0, of: app, with: rules)
                try Self.insert(record, db)
                app.rulesVersion = record.version
            }
            try app.save(db)
        }
    }

    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord {
        try await write("the app") { db in
            let app = try AppRecord.existing(id, db).changed(by: change)
            try app.save(db)
            return app
        }
    }
}
