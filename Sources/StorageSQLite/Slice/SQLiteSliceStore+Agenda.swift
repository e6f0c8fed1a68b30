import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func nextRealmID() async throws(StoreError) -> RealmID {
        try await query { db in
            let last = try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(coalesce((SELECT max(id) FROM realms), 0), coalesce((SELECT max(realm) FROM erasures), 0))
                    """)
            return RealmID((last ?? 0) + 1)
        }
    }

    func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        try await query { db in
            // SQLite takes the other columns from the row that has the maximum. No app's name is empty.
            try AppGenerationRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT app, max(generation), campaign, at FROM app_generations WHERE app > ?
                        GROUP BY app ORDER BY app LIMIT ?
                        """), arguments: [app ?? "", limit])
        }
    }

    func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        try await query { db in
            try AppGenerationRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(AppGenerationRecord.columns) FROM app_generations
                        WHERE campaign IS NOT NULL AND at >= ? ORDER BY at DESC, generation DESC LIMIT ?
                        """), arguments: [since.stored, limit])
        }
    }

    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await query { db in
            try AppGenerationRecord.fetchOne(
                db.cachedStatement(
                    sql: "SELECT \(AppGenerationRecord.columns) FROM app_generations WHERE campaign = ?"),
                arguments: [campaign])
        }
    }

    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await query { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ClientFileRecord.columns), r.app, r.partition
                        FROM client_files f JOIN realms r ON r.id = f.realm
                        WHERE f.campaign = ? AND (f.realm, f.ident) > (?, ?) ORDER BY f.realm, f.ident LIMIT ?
                        """),
                arguments: [campaign, after?.realm.value ?? 0, after?.ident.stored ?? 0, limit]
            ).map { row in
                ListedClientFile(
                    name: RealmName(app: row[21], partition: row[22]), record: try ClientFileRecord(row: row))
            }
        }
    }

    func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await query { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM client_files WHERE campaign = ?", arguments: [campaign]) ?? 0
        }
    }

    func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int {
        try await query { db in
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM client_files WHERE state = ? AND realm IN (SELECT id FROM realms WHERE app = ?)
                    """, arguments: [state.rawValue, app]) ?? 0
        }
    }

    func resetHolds() async throws(StoreError) -> [ResetHoldRecord] {
        try await query { db in
            try Row.fetchAll(
                db, sql: "SELECT app, held_since, asked, client_files, allowed_until FROM reset_holds ORDER BY app"
            ).map { row in
                ResetHoldRecord(
                    app: row[0], heldSince: (row[1] as Int64?).map(UInt64.init(stored:)), asked: row[2],
                    clientFiles: row[3], allowedUntil: (row[4] as Int64?).map(UInt64.init(stored:)))
            }
        }
    }

    func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await query { db in
            try ClientFileRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ClientFileRecord.columns) FROM client_files f JOIN realms r ON r.id = f.realm
                        WHERE f.state = 'live' AND f.last_seen < ? AND r.app = ? ORDER BY f.last_seen LIMIT ?
                        """),
                arguments: [seenBefore.stored, app, limit])
        }
    }

    func forgettableClientFiles(
        seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await query { db in
            var found: [ListedClientFile] = []
            // One after the other: each is a stretch of the index by age.
            for state in [ClientFileRecord.State.superseded, .expired, .resetRequired] where found.count < limit {
                found += try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT \(ClientFileRecord.columns), r.app, r.partition
                            FROM client_files f JOIN realms r ON r.id = f.realm
                            WHERE f.state = ? AND f.last_seen < ? ORDER BY f.last_seen LIMIT ?
                            """),
                    arguments: [state.rawValue, seenBefore.stored, limit - found.count]
                ).map { row in
                    ListedClientFile(
                        name: RealmName(app: row[21], partition: row[22]), record: try ClientFileRecord(row: row))
                }
            }
            return found
        }
    }

    func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser] {
        try await query { db in
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT app, user FROM user_usage WHERE at < ? ORDER BY at LIMIT ?"),
                arguments: [before.stored, limit]
            ).map { row in AppUser(app: row[0], user: row[1]) }
        }
    }

    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await query { db in
            try ResetCaseRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ResetCaseRecord.columns) FROM reset_cases
                        WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?
                        """),
                arguments: [at.stored, limit])
        }
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
