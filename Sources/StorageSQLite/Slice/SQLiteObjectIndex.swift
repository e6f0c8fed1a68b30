import Changesets
import Foundation
import GRDB
import Storage

/// Reading indexes: of a class's objects by the value of one property.
extension SQLiteSliceContent {
    func objects(_ query: IndexQuery, maxBytes: Int) async throws(StoreError) -> [IndexedObject] {
        try await self.query { db in
            try db.reading { try Self.objects(query, maxBytes: maxBytes, $0) }
        }
    }

    private static func objects(_ query: IndexQuery, maxBytes: Int, _ db: Database) throws -> [IndexedObject] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT i.value, i.key, o.body FROM object_index AS i CROSS JOIN objects AS o
                    ON o.realm = i.realm AND o.table_id = i.table_id AND o.key = i.key
                WHERE i.realm = ? AND i.table_id = ? AND i.column_id = ? AND i.value <= ?
                    AND (i.value, i.key) > (?, ?)
                ORDER BY i.value, i.key
                """)
        var found: [IndexedObject] = []
        var bytes = 0
        for range in query.rest {
            guard bytes < maxBytes || found.isEmpty else { break }
            let rows = try Row.fetchCursor(statement, arguments: query.arguments(range))
            let page = try rows.page(maxBytes: maxBytes - bytes) { row in
                let body = row.bytes(2)
                let object = IndexedObject(
                    value: row.bytes(0),
                    row: ObjectRow(table: query.table, key: try ObjectKey(parsingDetached: row.bytes(1))),
                    body: body)
                return (object, body.count)
            }
            bytes += page.reduce(0) { $0 + $1.body.count + HistoryQuery.overhead }
            found += page
        }
        return found
    }

    func countObjects(in realm: RealmID, of table: UInt32, limit: Int) async throws(StoreError) -> Int {
        try await query { db in
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FROM (SELECT 1 FROM objects WHERE realm = ? AND table_id = ? LIMIT ?)")
            return try Int.fetchOne(statement, arguments: [realm.value, Int64(table), limit]) ?? 0
        }
    }

    func countEntries(_ query: IndexQuery, limit: Int) async throws(StoreError) -> Int {
        try await self.query { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM object_index AS i
                        WHERE i.realm = ? AND i.table_id = ? AND i.column_id = ? AND i.value <= ?
                            AND (i.value, i.key) > (?, ?) LIMIT ?)
                    """)
            return try db.reading { db in
                var count = 0
                for range in query.rest where count < limit {
                    count +=
                        try Int.fetchOne(statement, arguments: query.arguments(range) + [limit - count]) ?? 0
                }
                return count
            }
        }
    }

    func indexEntries(
        in realm: RealmID, after: IndexEntry?, limit: Int
    ) async throws(StoreError) -> [IndexEntry] {
        try await query { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT table_id, column_id, value, key FROM object_index
                        WHERE realm = ? AND (table_id, column_id, value, key) > (?, ?, ?, ?)
                        ORDER BY table_id, column_id, value, key LIMIT ?
                        """),
                arguments: [
                    realm.value, after.map { Int64($0.row.table) } ?? -1, after.map { Int64($0.column) } ?? -1,
                    Data(after?.value ?? []), Data(after?.row.key.detachedEncoding() ?? []), limit,
                ]
            ).map { row in
                IndexEntry(
                    row: ObjectRow(
                        table: UInt32(truncatingIfNeeded: row[0] as Int64),
                        key: try ObjectKey(parsingDetached: row.bytes(3))),
                    column: UInt32(truncatingIfNeeded: row[1] as Int64), value: row.bytes(2))
            }
        }
    }
}

extension IndexQuery {
    /// Realm, table, column, the highest value, and the place after which a range begins: the last entry that was read, or before all keys.
    fileprivate func arguments(_ range: IndexRange) -> StatementArguments {
        let key = after.flatMap { $0.value == range.low ? $0.key.detachedEncoding() : nil } ?? []
        return [
            realm.value, Int64(table), Int64(column), Data(range.high), Data(range.low), Data(key),
        ]
    }
}
