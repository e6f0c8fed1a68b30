import PostgreSQL
import Storage
import SyncModel

extension PostgresSliceStore {
    func nextRealmID() async throws(StoreError) -> RealmID {
        let last = try await queryNumber(
            """
            SELECT greatest(
                (SELECT max(id) FROM realms WHERE slice = $1), (SELECT max(realm) FROM erasures WHERE slice = $1), 0)
            """)
        return RealmID((last ?? 0) + 1)
    }

    func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        // From app to app by the index: no app's name is empty.
        try await query(
            """
            SELECT DISTINCT ON (g.app) \(AppGenerationRecord.columns) FROM app_generations g
            WHERE g.slice = $1 AND g.app > $2 ORDER BY g.app, g.generation DESC LIMIT $3
            """, .string(app ?? ""), .int(Int64(limit))
        ).map(AppGenerationRecord.init)
    }

    func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        try await query(
            """
            SELECT \(AppGenerationRecord.columns) FROM app_generations g
            WHERE g.slice = $1 AND g.campaign IS NOT NULL AND g.at >= $2 ORDER BY g.at DESC, g.generation DESC LIMIT $3
            """, .int(since.stored), .int(Int64(limit))
        ).map(AppGenerationRecord.init)
    }

    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await query(
            "SELECT \(AppGenerationRecord.columns) FROM app_generations g WHERE g.slice = $1 AND g.campaign = $2",
            .string(campaign)
        ).first.map(AppGenerationRecord.init)
    }

    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await query(
            """
            SELECT \(ClientFileRecord.columns), r.app, r.partition
            FROM client_files f JOIN realms r ON r.slice = $1 AND r.id = f.realm
            WHERE f.slice = $1 AND f.campaign = $2 AND (f.realm, f.ident) > ($3, $4) ORDER BY f.realm, f.ident LIMIT $5
            """, .string(campaign), .int(after?.realm.value ?? 0), .int(after?.ident.stored ?? 0), .int(Int64(limit))
        ).read { row throws(StoreError) in try ListedClientFile(row) }
    }

    func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await queryCount(
            "SELECT count(*) FROM client_files WHERE slice = $1 AND campaign = $2", .string(campaign))
    }

    func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int {
        try await queryCount(
            """
            SELECT count(*) FROM realms r JOIN client_files f ON f.slice = $1 AND f.realm = r.id
            WHERE r.slice = $1 AND r.app = $2 AND f.state = $3
            """, .string(app), .text(state.rawValue))
    }

    func resetHolds() async throws(StoreError) -> [ResetHoldRecord] {
        try await query(
            """
            SELECT app, held_since, asked, client_files, allowed_until FROM reset_holds WHERE slice = $1 ORDER BY app
            """
        ).map { row in
            ResetHoldRecord(
                app: row.string(0), heldSince: row.optionalNumber(1), asked: Int(row.int(2)),
                clientFiles: Int(row.int(3)), allowedUntil: row.optionalNumber(4))
        }
    }

    func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await query(
            """
            SELECT \(ClientFileRecord.columns) FROM client_files f JOIN realms r ON r.slice = $1 AND r.id = f.realm
            WHERE f.slice = $1 AND f.state = 'live' AND f.last_seen < $2 AND r.app = $3 ORDER BY f.last_seen LIMIT $4
            """, .int(seenBefore.stored), .string(app), .int(Int64(limit))
        ).read { row throws(StoreError) in try ClientFileRecord(row) }
    }

    func forgettableClientFiles(seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ListedClientFile] {
        // Each state is a stretch of the index by age.
        var pipeline = PostgresPipeline()
        for state in [ClientFileRecord.State.superseded, .expired, .resetRequired] {
            pipeline.add(
                """
                SELECT \(ClientFileRecord.columns), r.app, r.partition
                FROM client_files f JOIN realms r ON r.slice = $1 AND r.id = f.realm
                WHERE f.slice = $1 AND f.state = $2 AND f.last_seen < $3 ORDER BY f.last_seen LIMIT $4
                """, .int(number), .text(state.rawValue), .int(seenBefore.stored), .int(Int64(limit)))
        }
        let answer = try await ask(pipeline)
        var found: [ListedClientFile] = []
        for index in 0..<answer.count {
            for row in answer[index] where found.count < limit { found.append(try ListedClientFile(row)) }
        }
        return found
    }

    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await query(
            """
            SELECT \(ResetCaseRecord.columns) FROM reset_cases c
            WHERE c.slice = $1 AND c.due_at IS NOT NULL AND c.due_at <= $2 ORDER BY c.due_at LIMIT $3
            """, .int(at.stored), .int(Int64(limit))
        ).map { ResetCaseRecord($0) }
    }

    func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser] {
        try await query(
            "SELECT app, \"user\" FROM user_usage WHERE slice = $1 AND at < $2 ORDER BY at LIMIT $3",
            .int(before.stored), .int(Int64(limit))
        ).map { AppUser(app: $0.string(0), user: $0.string(1)) }
    }

    func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)] {
        var found: [(number: Int64, record: OutboxRecord)] = []
        var (last, bytes) = (number, 0)
        while bytes < maxBytes || found.isEmpty {
            let rows = try await query(
                """
                SELECT o.number, o.id, o.body FROM (
                    SELECT p.number, sum(p.octets) OVER (ORDER BY p.number) - p.octets AS before FROM (
                        SELECT number, octet_length(body) + \(HistoryQuery.overhead) AS octets FROM outbox
                        WHERE slice = $1 AND number > $2 ORDER BY number LIMIT \(Self.outboxChunk)) p) w
                JOIN outbox o ON o.slice = $1 AND o.number = w.number
                WHERE w.before < $3 OR w.before = 0 ORDER BY o.number
                """, .int(last), .int(Int64(maxBytes) - Int64(bytes)))
            for row in rows {
                found.append((row.int(0), OutboxRecord(id: row.string(1), body: row.bytes(2))))
                bytes += row.byteCount(2) + HistoryQuery.overhead
            }
            guard rows.count == Self.outboxChunk, let end = rows.last else { break }
            last = end.int(0)
        }
        return found
    }

    private static let outboxChunk = 1_000
}
