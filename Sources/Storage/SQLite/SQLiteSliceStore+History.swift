import GRDB

extension SQLiteSliceStore {
    private static func record(_ row: Row) -> HistoryRecord {
        HistoryRecord(
            version: UInt64(stored: row[0]), salt: UInt64(stored: row[1]), originFile: UInt64(stored: row[2]),
            clientVersion: UInt64(stored: row[3]), timestamp: UInt64(stored: row[4]), changeset: bytes(row, 6),
            cumulativeBytes: UInt64(stored: row[5]))
    }

    package func history(
        of key: HistoryKey, after: UInt64, through: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        guard after < through else { return [] }
        return try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT version, salt, origin, client_version, timestamp, cumulative, changeset FROM history
                        WHERE realm = ? AND generation = ? AND version > ? AND version <= ? ORDER BY version
                        """),
                arguments: [key.realm.value, key.generation.stored, after.stored, through.stored])
            var entries: [HistoryRecord] = []
            var bytes = 0
            while bytes < maxBytes || entries.isEmpty, let row = try rows.next() {
                let entry = Self.record(row)
                bytes += entry.changeset.count + 32
                entries.append(entry)
            }
            return entries
        }
    }

    package func historyHeading(of key: HistoryKey, version: UInt64) async throws(StoreError) -> HistoryRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT version, salt, origin, client_version, timestamp, cumulative, x'' FROM history
                        WHERE realm = ? AND generation = ? AND version = ?
                        """),
                arguments: [key.realm.value, key.generation.stored, version.stored]
            ).map(Self.record)
        }
    }

    package func reciprocals(
        of owner: ClientFileKey, after: UInt64, through: UInt64
    ) async throws(StoreError) -> [UInt64: [UInt8]] {
        guard after < through else { return [:] }
        return try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT version, changeset FROM reciprocals
                        WHERE realm = ? AND ident = ? AND version > ? AND version <= ?
                        """),
                arguments: [owner.realm.value, owner.ident.stored, after.stored, through.stored])
            var found: [UInt64: [UInt8]] = [:]
            while let row = try rows.next() { found[UInt64(stored: row[0])] = Self.bytes(row, 1) }
            return found
        }
    }
}
