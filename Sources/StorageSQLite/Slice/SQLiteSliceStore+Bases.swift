import GRDB
import Messages
package import Storage

extension SQLiteSliceStore {
    private static let columns = "realm, version, generation, entries, bytes, history_bytes, complete, created_at"

    private static func base(_ row: Row) -> BaseRecord {
        BaseRecord(
            realm: RealmID(row[0]), generation: UInt64(stored: row[2]), version: UInt64(stored: row[1]),
            entries: UInt64(stored: row[3]), bytes: UInt64(stored: row[4]), historyBytes: UInt64(stored: row[5]),
            isComplete: row[6], createdAt: UInt64(stored: row[7]))
    }

    package func bases(of realm: RealmID) async throws(StoreError) -> [BaseRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT \(Self.columns) FROM bases WHERE realm = ? ORDER BY version"),
                arguments: [realm.value]
            ).map(Self.base)
        }
    }

    package func base(
        of realm: RealmID, generation: UInt64, version: UInt64
    ) async throws(StoreError) -> BaseRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM bases
                        WHERE realm = ? AND version = ? AND generation = ? AND complete
                        """),
                arguments: [realm.value, version.stored, generation.stored]
            ).map(Self.base)
        }
    }

    package func newestBase(of realm: RealmID, generation: UInt64) async throws(StoreError) -> BaseRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM bases
                        WHERE realm = ? AND generation = ? AND complete ORDER BY version DESC LIMIT 1
                        """),
                arguments: [realm.value, generation.stored]
            ).map(Self.base)
        }
    }

    package func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> UInt64? {
        try await read { db in
            try Int64.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT min(max(upload_server, start)) FROM client_files
                        WHERE realm = ? AND state = 'live' AND generation = ? AND start IS NOT NULL
                        """),
                arguments: [realm.value, generation.stored]
            ).map(UInt64.init(stored:))
        }
    }

    package func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT 1 FROM client_files
                        WHERE realm = ? AND state = 'live' AND generation = ? AND start = ? AND upload_server < start
                        """),
                arguments: [base.realm.value, base.generation.stored, base.version.stored]) != nil
        }
    }

    package func historyStretch(
        of key: HistoryKey, after: UInt64, through: UInt64, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> UInt64? {
        guard after < through else { return nil }
        return try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT version, cumulative FROM history
                        WHERE realm = ? AND generation = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?
                        """),
                arguments: [key.realm.value, key.series, after.stored, through.stored, maxVersions])
            var end: UInt64?
            var start: UInt64 = 0
            while let row = try rows.next() {
                let cumulative = UInt64(stored: row[1])
                if end == nil { start = cumulative }
                end = UInt64(stored: row[0])
                if cumulative &- start >= maxBytes { break }
            }
            return end
        }
    }
}
