import PostgreSQL
import Storage

/// Reading indexes: of a class's objects by the value of one property.
extension PostgresSliceContent {
    /// Rows that one statement goes over.
    private static var chunk: Int { 1_000 }

    func objects(_ query: IndexQuery, maxBytes: Int) async throws(StoreError) -> [IndexedObject] {
        var query = query
        var rest = query.rest[...]
        // Few ranges at first: one may have all that is wanted, and each is gone over for as much.
        var width = 16
        var found: [IndexedObject] = []
        var bytes = 0
        while !rest.isEmpty, bytes < maxBytes || found.isEmpty {
            let ranges = rest.prefix(width)
            // By their lengths first: what is not returned is not read.
            let rows = try await self.query(
                """
                WITH p AS (
                    SELECT i.value, i.key_id, o.octets FROM (
                        \(Self.entries(limit: "\(Self.chunk)")) ORDER BY i.value, i.key_id LIMIT \(Self.chunk)) i
                    CROSS JOIN LATERAL (
                        SELECT octet_length(b.body) + \(HistoryQuery.overhead) AS octets FROM objects b
                        WHERE b.slice = $1 AND b.realm = $2 AND b.table_id = $3 AND b.key_id = i.key_id OFFSET 0) o),
                w AS (SELECT p.*, sum(p.octets) OVER (ORDER BY p.value, p.key_id) - p.octets AS before FROM p)
                SELECT w.value, o.key, o.body FROM w CROSS JOIN LATERAL (
                    SELECT b.key, b.body FROM objects b
                    WHERE b.slice = $1 AND b.realm = $2 AND b.table_id = $3 AND b.key_id = w.key_id OFFSET 0) o
                WHERE w.before < $9 OR w.before = 0
                ORDER BY w.value, w.key_id
                """, values: query.parameters(ranges) + [.int(Int64(maxBytes) - Int64(bytes))])
            for row in rows {
                found.append(
                    IndexedObject(
                        value: row.bytes(0), row: ObjectRow(table: query.table, key: try StoredKey.key(row.bytes(1))),
                        body: row.bytes(2)))
                bytes += row.byteCount(2) + HistoryQuery.overhead
            }
            if rows.count == Self.chunk, let last = found.last {
                query.after = (last.value, last.row.key)
                rest = query.rest[...]
            } else {
                rest = rest.dropFirst(width)
                width *= 4
            }
        }
        return found
    }

    func countObjects(in realm: RealmID, of table: UInt32, limit: Int) async throws(StoreError) -> Int {
        try await queryCount(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM objects WHERE slice = $1 AND realm = $2 AND table_id = $3 LIMIT $4) c
            """, .int(realm.value), .int(Int64(table)), .int(Int64(limit)))
    }

    func countEntries(_ query: IndexQuery, limit: Int) async throws(StoreError) -> Int {
        let ranges = query.rest
        guard !ranges.isEmpty else { return 0 }
        let rows = try await self.query(
            "SELECT count(*) FROM (\(Self.entries(limit: "$9")) LIMIT $9) c",
            values: query.parameters(ranges[...]) + [.int(Int64(limit))])
        return Int(rows.first?.int(0) ?? 0)
    }

    /// The entries in some ranges behind a place, so many of each range.
    private static func entries(limit: String) -> String {
        """
        SELECT i.value, i.key_id FROM unnest($5, $6) AS r (low, high) CROSS JOIN LATERAL (
            SELECT x.value, x.key_id FROM object_index x
            WHERE x.slice = $1 AND x.realm = $2 AND x.table_id = $3 AND x.column_id = $4 AND x.value <= r.high
                AND (x.value, x.key_id) > (r.low, CASE WHEN r.low = $7 THEN $8 ELSE ''::bytea END)
            ORDER BY x.value, x.key_id LIMIT \(limit)) i
        """
    }

    func indexEntries(
        in realm: RealmID, after: IndexEntry?, limit: Int
    ) async throws(StoreError) -> [IndexEntry] {
        try await query(
            """
            SELECT table_id, column_id, value, key FROM object_index
            WHERE slice = $1 AND realm = $2 AND (table_id, column_id, value, key_id) > ($3, $4, $5, $6)
            ORDER BY table_id, column_id, value, key_id LIMIT $7
            """, .int(realm.value), .int(after.map { Int64($0.row.table) } ?? -1),
            .int(after.map { Int64($0.column) } ?? -1), .bytes(after?.value ?? []),
            .bytes(after.map { StoredKey($0.row.key).id } ?? []), .int(Int64(limit))
        ).read { row throws(StoreError) in
            IndexEntry(
                row: ObjectRow(
                    table: UInt32(truncatingIfNeeded: row.int(0)), key: try StoredKey.key(row.bytes(3))),
                column: UInt32(truncatingIfNeeded: row.int(1)), value: row.bytes(2))
        }
    }
}

extension IndexQuery {
    /// $2 to $8: realm, table, column, the lowest and the highest values of ranges, and the last entry that was read.
    fileprivate func parameters(_ ranges: ArraySlice<IndexRange>) -> [PostgresValue] {
        [
            .int(realm.value), .int(Int64(table)), .int(Int64(column)), .byteStrings(ranges.map(\.low)),
            .byteStrings(ranges.map(\.high)), .bytes(after?.value ?? []),
            .bytes(after.map { StoredKey($0.key).id } ?? []),
        ]
    }
}
