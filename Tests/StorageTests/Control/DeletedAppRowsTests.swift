import GRDB
import Storage
import StorageSupport
import TestSupport
import Testing

@testable import StorageSQLite

/// Whatever table names an app or a campaign, nothing is left in it of an app that was deleted.
@Suite(.hangGuard) struct DeletedAppRowsTests {
    /// What is kept of a deleted app: that it was deleted, and how far that has come.
    private static let kept: Set<String> = ["app_deletions", "app_deletion_slices"]

    @Test func noTableOfTheSchemaIsForgotten() async throws {
        let store = try await SQLiteControlStore.inMemory()
        try await store.insert(AppRecord(id: "tasks", createdAt: 1))
        try await store.insert(AppRecord(id: "other", createdAt: 1))
        let tables = try await store.write("the rows") { db -> [String] in
            let tables = try Self.tables(db)
            for app in ["tasks", "other"] { for table in tables { try Self.fill(table, of: app, db) } }
            return tables
        }
        expectTrue(tables.count > 10 && tables.contains("campaign_chunks") && tables.contains("login_settings"))
        _ = try await store.deleteApp(AppDeletionRecord(app: "tasks", by: "me", at: 1, slices: 1))
        while try await store.removeRows(ofDeletedApp: "tasks", limit: 3) == 3 {}
        let left = try await store.read("the rows") { db in
            try tables.map { table in
                let mark = try Self.columns(of: table, db).contains("app") ? "app" : "campaign"
                return try String.fetchAll(db, sql: "SELECT \(mark) FROM \(table)")
            }
        }
        for (table, rows) in zip(tables, left) { expectEqual(rows, ["other"], "\(table)") }
    }

    private static func columns(of table: String, _ db: Database) throws -> [String] {
        try db.columns(in: table).map(\.name)
    }

    /// The tables that name an app, or a campaign of one.
    private static func tables(_ db: Database) throws -> [String] {
        let all = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        return try all.filter { table in
            let columns = try columns(of: table, db)
            return !kept.contains(table) && (columns.contains("app") || columns.contains("campaign"))
        }
    }

    /// Inserts a row all of whose texts are the app's id, its campaigns' ids among them.
    private static func fill(_ table: String, of app: String, _ db: Database) throws {
        let columns = try db.columns(in: table).filter {
            $0.type != "INTEGER" || $0.primaryKeyIndex == 0 || $0.isNotNull
        }
        let values = columns.map { column -> any DatabaseValueConvertible in
            column.type == "TEXT" ? app : column.type == "BLOB" ? app.databaseValue : 1
        }
        try db.execute(
            sql: """
                INSERT INTO \(table) (\(columns.map { "\"\($0.name)\"" }.joined(separator: ", ")))
                VALUES (\(databaseQuestionMarks(count: columns.count)))
                """, arguments: StatementArguments(values))
    }
}
