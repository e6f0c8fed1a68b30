import GRDB
import Storage

extension AppRecord {
    static func stored(_ id: String, _ db: Database) throws -> AppRecord? {
        try db.rows("SELECT * FROM apps WHERE id = ?", id).first.map(AppRecord.init(row:))
    }

    static func existing(_ id: String, _ db: Database) throws -> AppRecord {
        guard let app = try stored(id, db) else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    func save(_ db: Database) throws {
        try db.run("INSERT OR REPLACE INTO apps (\(Self.columns)) VALUES (\(Self.places))", values: values())
    }
}

/// Apps with their settings, rules and schemas.
protocol SQLiteAppStore: SQLiteControlPart {}

extension SQLiteAppStore {
    func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try await write("the app") { db in
            guard try db.rows("SELECT 1 FROM apps WHERE id = ?", app.id).isEmpty else {
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
