import GRDB
import Storage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteAppStore {
    func replaceRules(
        app: String, expecting version: UInt64, with change: RulesChange
    ) async throws(StoreError) -> RulesRecord {
        try await write("the rules") { db in
            var app = try AppRecord.existing(app, db)
            let record = try RulesRecord.replacing(version, of: app, with: change)
            try Self.insert(record, db)
            try db.run(
                """
                DELETE FROM app_rules WHERE app = ? AND version <=
                    (SELECT version FROM app_rules WHERE app = ? ORDER BY version DESC LIMIT 1 OFFSET ?)
                """, app.id, app.id, RulesRecord.kept)
            app.rulesVersion = record.version
            try app.save(db)
            return record
        }
    }

    static func insert(_ record: RulesRecord, _ db: Database) throws {
        try db.run(
            "INSERT INTO app_rules (app, version, document, author, at) VALUES (?, ?, ?, ?, ?)", record.app,
            sqlInteger(record.version), Data(record.document), record.author, sqlInteger(record.at))
    }
}
