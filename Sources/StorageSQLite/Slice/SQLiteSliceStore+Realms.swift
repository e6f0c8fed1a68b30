import Changesets
import Foundation
import GRDB
package import Messages
package import Storage

extension SQLiteSliceStore {
    private static let realmColumns = """
        id, app, partition, generation, latest, latest_salt, salt, salt_epoch, history_base, history_bytes, next_ident, \
        schema, compatibility
        """

    private static func realm(_ row: Row) throws(StoreError) -> RealmRecord {
        guard let compatibility = PeerCompatibility(rawValue: row[12]) else {
            throw StoreError(.corrupt, "a realm's compatibility is not known: \(row[12] as String)")
        }
        return RealmRecord(
            id: RealmID(row[0]), name: RealmName(app: row[1], partition: row[2]), generation: UInt64(stored: row[3]),
            latest: SaltedVersion(version: UInt64(stored: row[4]), salt: UInt64(stored: row[5])),
            salt: UInt64(stored: row[6]), saltEpoch: Epoch(UInt64(stored: row[7])),
            historyBase: UInt64(stored: row[8]), historyBytes: UInt64(stored: row[9]),
            nextIdent: UInt64(stored: row[10]), schema: bytes(row, 11),
            compatibility: compatibility)
    }

    /// A blob column's bytes, copied once.
    static func bytes(_ row: Row, _ column: Int) -> [UInt8] {
        (try? row.withUnsafeData(atIndex: column) { $0.map(Array.init) ?? [] }) ?? []
    }

    package func realm(_ name: RealmName) async throws(StoreError) -> RealmRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT \(Self.realmColumns) FROM realms WHERE app = ? AND partition = ?"),
                arguments: [name.app, name.partition]
            ).map(Self.realm)
        }
    }

    package func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT \(Self.realmColumns) FROM realms WHERE id > ? ORDER BY id LIMIT ?"),
                arguments: [after?.value ?? 0, limit]
            ).map(Self.realm)
        }
    }

    package func nextRealmID() async throws(StoreError) -> RealmID {
        try await read { db in
            RealmID((try Int64.fetchOne(db, sql: "SELECT max(id) FROM realms") ?? 0) + 1)
        }
    }

    package func objects(
        in realm: RealmID, at rows: [ObjectRow]
    ) async throws(StoreError) -> [ObjectRow: [UInt8]] {
        guard !rows.isEmpty else { return [:] }
        return try await read { db in
            let statement = try RepeatedStatement(
                db, "SELECT body FROM objects WHERE realm = ? AND table_id = ? AND key = ?")
            statement.bind(1, realm.value)
            var found: [ObjectRow: [UInt8]] = [:]
            for wanted in rows {
                statement.bind(2, Int64(wanted.table))
                statement.bind(3, wanted.key.detachedEncoding())
                if let body = try statement.first({ $0.bytes(0) }) { found[wanted] = body }
            }
            return found
        }
    }

    package func objects(
        in realm: RealmID, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT table_id, key, body FROM objects WHERE realm = ? AND (table_id, key) > (?, ?)
                    ORDER BY table_id, key
                    """)
            let rows = try Row.fetchCursor(
                statement,
                arguments: [
                    realm.value, after.map { Int64($0.table) } ?? -1, Data(after?.key.detachedEncoding() ?? []),
                ])
            var page: [(row: ObjectRow, body: [UInt8])] = []
            var bytes = 0
            while bytes < maxBytes, let row = try rows.next() {
                let body = Self.bytes(row, 2)
                bytes += body.count + 32
                let table = UInt32(truncatingIfNeeded: row[0] as Int64)
                let key = try ObjectKey(parsingDetached: Self.bytes(row, 1))
                page.append((ObjectRow(table: table, key: key), body))
            }
            return page
        }
    }
}
