import GRDB
package import Storage

extension SQLiteSliceStore {
    private static func generation(_ row: Row) -> AppGenerationRecord {
        AppGenerationRecord(
            app: row[0], generation: UInt64(stored: row[1]), campaign: row[2], at: UInt64(stored: row[3]))
    }

    package func appGeneration(_ app: String) async throws(StoreError) -> AppGenerationRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT app, generation, campaign, at FROM app_generations
                        WHERE app = ? ORDER BY generation DESC LIMIT 1
                        """),
                arguments: [app]
            ).map(Self.generation)
        }
    }

    package func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT app, generation, campaign, at FROM app_generations WHERE campaign = ?"),
                arguments: [campaign]
            ).map(Self.generation)
        }
    }

    package func appGenerations() async throws(StoreError) -> [AppGenerationRecord] {
        try await read { db in
            // SQLite takes the other columns from the row that has the maximum.
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT app, max(generation), campaign, at FROM app_generations GROUP BY app")
            ).map(Self.generation)
        }
    }

    package func reason(campaign: String) async throws(StoreError) -> String? {
        try await read { db in
            try String.fetchOne(
                db.cachedStatement(sql: "SELECT reason FROM campaign_reasons WHERE campaign = ?"), arguments: [campaign]
            )
        }
    }

    private static let caseColumns = "realm, ident_old, user, is_open, due_at, body"

    private static func resetCase(_ row: Row) -> ResetCaseRecord {
        ResetCaseRecord(
            realm: RealmID(row[0]), identOld: UInt64(stored: row[1]), user: row[2], isOpen: row[3],
            dueAt: (row[4] as Int64?).map(UInt64.init(stored:)), body: bytes(row, 5))
    }

    package func resetCase(_ key: ClientFileKey) async throws(StoreError) -> ResetCaseRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT \(Self.caseColumns) FROM reset_cases WHERE realm = ? AND ident_old = ?"),
                arguments: [key.realm.value, key.ident.stored]
            ).map(Self.resetCase)
        }
    }

    package func openResetCases(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ResetCaseRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.caseColumns) FROM reset_cases
                        WHERE realm = ? AND user = ? AND is_open ORDER BY ident_old DESC LIMIT ?
                        """),
                arguments: [realm.value, user, limit]
            ).map(Self.resetCase)
        }
    }

    package func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.caseColumns) FROM reset_cases
                        WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?
                        """),
                arguments: [at.stored, limit]
            ).map(Self.resetCase)
        }
    }

    package func isSeen(messageID: String) async throws(StoreError) -> Bool {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT 1 FROM seen_messages WHERE id = ?"), arguments: [messageID]) != nil
        }
    }

    package func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)] {
        try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT number, id, body FROM outbox WHERE number > ? ORDER BY number"),
                arguments: [number])
            var page: [(number: Int64, record: OutboxRecord)] = []
            var bytes = 0
            while bytes < maxBytes, let row = try rows.next() {
                let record = OutboxRecord(id: row[1], body: Self.bytes(row, 2))
                bytes += record.body.count + 64
                page.append((row[0], record))
            }
            return page
        }
    }
}
