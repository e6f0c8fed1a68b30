import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func nextRealmID() async throws(StoreError) -> RealmID {
        let last = try await count(
            "SELECT max(coalesce((SELECT max(id) FROM realms), 0), coalesce((SELECT max(realm) FROM erasures), 0))")
        return RealmID(Int64(last) + 1)
    }

    func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        // SQLite takes the other columns from the row that has the maximum. No app's name is empty.
        try await rows(
            """
            SELECT app, max(generation), campaign, at FROM app_generations WHERE app > ?
            GROUP BY app ORDER BY app LIMIT ?
            """, app ?? "", limit, as: AppGenerationRecord.init(row:))
    }

    func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        try await rows(
            """
            SELECT \(AppGenerationRecord.columns) FROM app_generations
            WHERE campaign IS NOT NULL AND at >= ? ORDER BY at DESC, generation DESC LIMIT ?
            """, since.stored, limit, as: AppGenerationRecord.init(row:))
    }

    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await rows(
            "SELECT \(AppGenerationRecord.columns) FROM app_generations WHERE campaign = ?", campaign,
            as: AppGenerationRecord.init(row:)
        ).first
    }

    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await rows(
            """
            SELECT \(ListedClientFile.columns) FROM client_files f JOIN realms r ON r.id = f.realm
            WHERE f.campaign = ? AND (f.realm, f.ident) > (?, ?) ORDER BY f.realm, f.ident LIMIT ?
            """, campaign, after?.realm.value ?? 0, after?.ident.stored ?? 0, limit, as: ListedClientFile.init(row:))
    }

    func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await count("SELECT count(*) FROM client_files WHERE campaign = ?", campaign)
    }

    func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int {
        try await count(
            "SELECT count(*) FROM client_files WHERE state = ? AND realm IN (SELECT id FROM realms WHERE app = ?)",
            state.rawValue, app)
    }

    func resetHolds() async throws(StoreError) -> [ResetHoldRecord] {
        try await rows("SELECT app, held_since, asked, client_files, allowed_until FROM reset_holds ORDER BY app") {
            row in
            ResetHoldRecord(
                app: row[0], heldSince: (row[1] as Int64?).map(UInt64.init(stored:)), asked: row[2],
                clientFiles: row[3], allowedUntil: (row[4] as Int64?).map(UInt64.init(stored:)))
        }
    }

    func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await rows(
            """
            SELECT \(ClientFileRecord.columns) FROM client_files f JOIN realms r ON r.id = f.realm
            WHERE f.state = 'live' AND f.last_seen < ? AND r.app = ? ORDER BY f.last_seen LIMIT ?
            """, seenBefore.stored, app, limit, as: ClientFileRecord.init(row:))
    }

    func forgettableClientFiles(
        seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await query { db in
            var found: [ListedClientFile] = []
            // One after the other: each is a stretch of the index by age.
            for state in [ClientFileRecord.State.superseded, .expired, .resetRequired] where found.count < limit {
                found += try ListedClientFile.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT \(ListedClientFile.columns) FROM client_files f JOIN realms r ON r.id = f.realm
                            WHERE f.state = ? AND f.last_seen < ? ORDER BY f.last_seen LIMIT ?
                            """),
                    arguments: [state.rawValue, seenBefore.stored, limit - found.count])
            }
            return found
        }
    }

    func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser] {
        try await rows("SELECT app, user FROM user_usage WHERE at < ? ORDER BY at LIMIT ?", before.stored, limit) {
            row in
            AppUser(app: row[0], user: row[1])
        }
    }

    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await rows(
            """
            SELECT \(ResetCaseRecord.columns) FROM reset_cases
            WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?
            """, at.stored, limit, as: ResetCaseRecord.init(row:))
    }

    func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)] {
        try await query { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT number, id, body FROM outbox WHERE number > ? ORDER BY number"),
                arguments: [number])
            return try rows.page(maxBytes: maxBytes) { row in
                let record = OutboxRecord(id: row[1], body: row.bytes(2))
                return ((number: row[0], record: record), record.body.count)
            }
        }
    }
}
