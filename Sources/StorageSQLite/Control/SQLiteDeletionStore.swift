import GRDB
import Storage
import SyncModel

extension AppDeletionRecord {
    fileprivate static let query = """
        SELECT app_deletions.*, COUNT(app_deletion_slices.slice) AS reported, IFNULL(SUM(done), 0) AS slices_done,
            IFNULL(SUM(erased), 0) AS erased, IFNULL(SUM(remaining), 0) AS remaining
        FROM app_deletions LEFT JOIN app_deletion_slices USING (app)
        """

    static func fetch(_ app: String, _ db: Database) throws -> AppDeletionRecord? {
        try db.rows("\(query) WHERE app = ? GROUP BY app", app).first.map(AppDeletionRecord.init(row:))
    }
}

/// Apps that were deleted, and the going of what belonged to them.
protocol SQLiteDeletionStore: SQLiteControlPart {}

extension SQLiteDeletionStore {
    func deleteApp(_ deletion: AppDeletionRecord) async throws(StoreError) -> AppDeletionRecord {
        try await write("the deletion") { db in
            if let known = try AppDeletionRecord.fetch(deletion.app, db) { return known }
            _ = try AppRecord.existing(deletion.app, db)
            try db.run("DELETE FROM apps WHERE id = ?", deletion.app)
            try db.run(
                "INSERT INTO app_deletions (app, deleted_by, at, slices) VALUES (?, ?, ?, ?)", deletion.app,
                deletion.by, sqlInteger(deletion.at), deletion.slices)
            return try AppDeletionRecord.fetch(deletion.app, db) ?? deletion
        }
    }

    func deletion(ofApp app: String) async throws(StoreError) -> AppDeletionRecord? {
        try await read("the deletion") { try AppDeletionRecord.fetch(app, $0) }
    }

    func deletions(limit: Int) async throws(StoreError) -> [AppDeletionRecord] {
        try await read("the deletions") { db in
            try db.rows("\(AppDeletionRecord.query) GROUP BY app ORDER BY at DESC, app LIMIT ?", limit)
                .map(AppDeletionRecord.init(row:))
        }
    }

    func unfinishedDeletions() async throws(StoreError) -> [AppDeletionRecord] {
        try await read("the deletions") { db in
            try db.rows("\(AppDeletionRecord.query) WHERE finished_at IS NULL GROUP BY app ORDER BY at, app")
                .map(AppDeletionRecord.init(row:))
        }
    }

    func note(_ progress: SliceErasureProgress) async throws(StoreError) {
        try await write("the deletion") { db in
            try db.run(
                """
                INSERT INTO app_deletion_slices (app, slice, erased, remaining, done)
                SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM app_deletions WHERE app = ?)
                ON CONFLICT (app, slice) DO UPDATE SET erased = max(erased, excluded.erased),
                    remaining = min(remaining, excluded.remaining), done = max(done, excluded.done)
                """, progress.app, progress.slice.value, progress.erased, progress.left, progress.isDone, progress.app)
        }
    }

    func removeRows(ofDeletedApp app: String, limit: Int) async throws(StoreError) -> Int {
        try await write("the rows of the deleted app") { db in
            guard try AppDeletionRecord.fetch(app, db) != nil else { return 0 }
            var removed = 0
            for (table, key) in AppDeletionRecord.tablesOfApps where removed < limit {
                try db.run(
                    """
                    DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE app = ? LIMIT ?)
                    """, app, limit - removed)
                removed += db.changesCount
            }
            guard removed < limit else { return removed }
            let campaigns = try String.fetchAll(
                db, sql: "SELECT id FROM campaigns WHERE app = ? LIMIT ?", arguments: [app, limit - removed])
            for id in campaigns {
                try db.run("DELETE FROM campaign_chunks WHERE campaign = ?", id)
                try db.run("DELETE FROM campaigns WHERE id = ?", id)
            }
            return removed + campaigns.count
        }
    }
}
