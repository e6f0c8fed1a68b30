import Storage
import SyncModel

/// Apps that were deleted, and the going of what belonged to them.
protocol PostgresDeletionStore: PostgresControlPart {}

extension PostgresDeletionStore {
    func deleteApp(_ deletion: AppDeletionRecord) async throws(StoreError) -> AppDeletionRecord {
        try await database.change("the deletion") { transaction in
            let app = try await transaction.rows("SELECT 1 FROM apps WHERE id = $1 FOR UPDATE", deletion.app)
            if let known = try await AppDeletionRecord.fetch(deletion.app, transaction) { return known }
            guard !app.isEmpty else { throw StoreError(.notFound, "there is no app \(deletion.app)") }
            try await transaction.run("DELETE FROM apps WHERE id = $1", deletion.app)
            try await transaction.run("DELETE FROM login_settings WHERE app = $1", deletion.app)
            try await transaction.run(
                "INSERT INTO app_deletions (app, deleted_by, at, slices) VALUES ($1, $2, $3, $4)", deletion.app,
                deletion.by, deletion.at, deletion.slices)
            return try await AppDeletionRecord.fetch(deletion.app, transaction) ?? deletion
        }
    }

    func deletion(ofApp app: String) async throws(StoreError) -> AppDeletionRecord? {
        try await database.read("the deletion") { try await AppDeletionRecord.fetch(app, $0) }
    }

    func deletions(limit: Int) async throws(StoreError) -> [AppDeletionRecord] {
        try await database.read("the deletions") { queries in
            try await queries.rows("\(AppDeletionRecord.query) ORDER BY at DESC, app LIMIT $1", limit)
                .map(AppDeletionRecord.init(row:))
        }
    }

    func unfinishedDeletions() async throws(StoreError) -> [AppDeletionRecord] {
        try await database.read("the deletions") { queries in
            try await queries.rows("\(AppDeletionRecord.query) WHERE finished_at IS NULL ORDER BY at, app")
                .map(AppDeletionRecord.init(row:))
        }
    }

    func note(_ progress: SliceErasureProgress) async throws(StoreError) {
        try await database.run(
            "the deletion",
            """
            INSERT INTO app_deletion_slices AS known (app, slice, erased, remaining, done)
            SELECT app, $2, $3, $4, $5 FROM app_deletions WHERE app = $1
            ON CONFLICT (app, slice) DO UPDATE SET erased = greatest(known.erased, excluded.erased),
                remaining = least(known.remaining, excluded.remaining), done = known.done OR excluded.done
            """, progress.app, progress.slice.value, progress.erased, progress.left, progress.isDone)
    }

    func removeRows(ofDeletedApp app: String, limit: Int) async throws(StoreError) -> Int {
        try await database.change("the rows of the deleted app") { transaction in
            guard try await AppDeletionRecord.fetch(app, transaction) != nil else { return 0 }
            var removed = 0
            for (table, key) in AppDeletionRecord.tablesOfApps where removed < limit {
                removed += try await transaction.run(
                    "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE app = $1 LIMIT $2)", app,
                    limit - removed)
            }
            guard removed < limit else { return removed }
            let campaigns = try await transaction.rows(
                "SELECT id FROM campaigns WHERE app = $1 LIMIT $2 FOR UPDATE", app, limit - removed
            ).map { try $0.text("id") }
            try await transaction.run("DELETE FROM campaign_chunks WHERE campaign = ANY($1)", campaigns)
            try await transaction.run("DELETE FROM campaigns WHERE id = ANY($1)", campaigns)
            return removed + campaigns.count
        }
    }
}

extension AppDeletionRecord {
    /// The sums are `numeric` in PostgreSQL.
    fileprivate static let query = """
        SELECT app_deletions.*, coalesce(reports.done, 0) AS slices_done, coalesce(reports.erased, 0) AS erased,
            coalesce(reports.remaining, 0) AS remaining
        FROM app_deletions LEFT JOIN
            (SELECT app, count(*) FILTER (WHERE done) AS done, sum(erased)::bigint AS erased,
                sum(remaining)::bigint AS remaining FROM app_deletion_slices GROUP BY app) AS reports USING (app)
        """

    static func fetch(_ app: String, _ database: some ControlQueries) async throws -> AppDeletionRecord? {
        try await database.rows("\(query) WHERE app = $1", app).first.map(AppDeletionRecord.init(row:))
    }
}
