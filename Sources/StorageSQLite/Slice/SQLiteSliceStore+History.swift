import GRDB
package import Storage

extension SQLiteSliceStore {
    private static func record(_ row: Row) -> HistoryRecord {
        HistoryRecord(
            version: UInt64(stored: row[0]), salt: UInt64(stored: row[1]), originFile: UInt64(stored: row[2]),
            clientVersion: UInt64(stored: row[3]), timestamp: UInt64(stored: row[4]), changeset: bytes(row, 6),
            cumulativeBytes: UInt64(stored: row[5]))
    }

    private static func record(_ columns: RepeatedStatement.Columns) -> HistoryRecord {
        HistoryRecord(
            version: columns.number(0), salt: columns.number(1), originFile: columns.number(2),
            clientVersion: columns.number(3), timestamp: columns.number(4), changeset: columns.bytes(6),
            cumulativeBytes: columns.number(5))
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
                arguments: [key.realm.value, key.series, after.stored, through.stored])
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

    package func history(
        of key: HistoryKey, at versions: ArraySlice<UInt64>, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        guard !versions.isEmpty else { return [] }
        return try await read { db in
            let statement = try RepeatedStatement(
                db,
                """
                SELECT version, salt, origin, client_version, timestamp, cumulative, changeset FROM history
                WHERE realm = ? AND generation = ? AND version = ?
                """)
            statement.bind(1, key.realm.value)
            statement.bind(2, key.series)
            var entries: [HistoryRecord] = []
            var bytes = 0
            for version in versions {
                guard bytes < maxBytes || entries.isEmpty else { break }
                statement.bind(3, version)
                guard let entry = try statement.first(Self.record) else { continue }
                bytes += entry.changeset.count + 32
                entries.append(entry)
            }
            return entries
        }
    }

    package func historyDigests(
        of key: HistoryKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [HistoryDigest] {
        try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT after, through, body FROM history_digests
                        WHERE realm = ? AND generation = ? AND through > ? ORDER BY through
                        """),
                arguments: [key.realm.value, key.series, after.stored])
            var digests: [HistoryDigest] = []
            var bytes = 0
            while bytes < maxBytes || digests.isEmpty, let row = try rows.next() {
                let digest = HistoryDigest(
                    key: key, after: UInt64(stored: row[0]), through: UInt64(stored: row[1]), body: Self.bytes(row, 2))
                bytes += digest.body.count + 32
                digests.append(digest)
            }
            return digests
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
                arguments: [key.realm.value, key.series, version.stored]
            ).map(Self.record)
        }
    }

    package func reciprocals(
        of owner: ClientFileKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [UInt64: [UInt8]]? {
        try await read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT version, changeset FROM reciprocals
                        WHERE realm = ? AND ident = ? AND version > ?
                        """),
                arguments: [owner.realm.value, owner.ident.stored, after.stored])
            var found: [UInt64: [UInt8]] = [:]
            var bytes = 0
            while let row = try rows.next() {
                let changeset = Self.bytes(row, 1)
                bytes += changeset.count + 32
                guard bytes <= maxBytes else { return nil }
                found[UInt64(stored: row[0])] = changeset
            }
            return found
        }
    }

    package func reciprocals(
        of owner: ClientFileKey, at versions: [UInt64]
    ) async throws(StoreError) -> [UInt64: [UInt8]] {
        guard !versions.isEmpty else { return [:] }
        return try await read { db in
            let statement = try RepeatedStatement(
                db, "SELECT changeset FROM reciprocals WHERE realm = ? AND ident = ? AND version = ?")
            statement.bind(1, owner.realm.value)
            statement.bind(2, owner.ident)
            var found: [UInt64: [UInt8]] = [:]
            for version in versions {
                statement.bind(3, version)
                if let changeset = try statement.first({ $0.bytes(0) }) { found[version] = changeset }
            }
            return found
        }
    }
}
