import Changesets
import Foundation
import GRDB
import Storage
import SyncModel

/// What a slice's file holds, read through one connection.
protocol SQLiteSliceContent: SliceContent {
    var database: DatabaseQueue { get }
}

extension SQLiteSliceContent {
    /// Runs reads. The connection has one user at a time, so they need no transaction unless they must agree.
    func query<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do {
            return try await database.writeWithoutTransaction(body)
        } catch {
            throw SQLiteSliceStore.translate(error, slice: slice)
        }
    }

    /// What the rows hold that a statement returns.
    func rows<Value: Sendable>(
        _ sql: String, _ arguments: (any DatabaseValueConvertible)?...,
        as value: @escaping @Sendable (Row) throws -> Value
    ) async throws(StoreError) -> [Value] {
        let arguments = StatementArguments(arguments)
        return try await query { db in
            try Array(Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments).map(value))
        }
    }

    /// The number that a statement returns.
    func count(_ sql: String, _ arguments: (any DatabaseValueConvertible)?...) async throws(StoreError) -> Int {
        let arguments = StatementArguments(arguments)
        return try await query { try Int.fetchOne($0.cachedStatement(sql: sql), arguments: arguments) ?? 0 }
    }

    func read(_ lookup: SliceLookup) async throws(StoreError) -> SliceFindings {
        try await query { try $0.reading { try SliceFindings(lookup, $0) } }
    }

    func ownership() async throws(StoreError) -> SliceOwnership? {
        try await query { try SliceOwnership.current($0) }
    }

    func restore() async throws(StoreError) -> RestoreRecord? {
        try await query { db in
            let get = "SELECT value FROM meta WHERE key = ?"
            guard let id = try String.fetchOne(db, sql: get, arguments: ["restore"]),
                let at = try String.fetchOne(db, sql: get, arguments: ["restore.at"]).flatMap(UInt64.init)
            else { return nil }
            return RestoreRecord(id: id, at: at)
        }
    }

    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        try await rows(
            "SELECT epoch, owner, at, reason, released_at FROM ownership_history ORDER BY epoch DESC LIMIT ?", limit
        ) { row in
            OwnershipChange(
                epoch: Epoch(UInt64(stored: row[0])), owner: row[1], at: UInt64(stored: row[2]),
                reason: OwnershipChange.Reason(rawValue: row[3]) ?? .first,
                releasedAt: (row[4] as Int64?).map(UInt64.init(stored:)))
        }
    }

    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await rows(
            "SELECT \(RealmRecord.columns) FROM realms WHERE id > ? ORDER BY id LIMIT ?", after?.value ?? 0, limit,
            as: RealmRecord.init(row:))
    }

    func objects(
        in realm: RealmID, of table: UInt32?, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        try await query { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT table_id, key, body FROM objects WHERE realm = ? AND (table_id, key) > (?, ?) AND table_id <= ?
                    ORDER BY table_id, key
                    """)
            let rows = try Row.fetchCursor(
                statement,
                arguments: [
                    realm.value, (after?.table ?? table).map { Int64($0) } ?? -1,
                    Data(after?.key.detachedEncoding() ?? []),
                    table.map { Int64($0) } ?? .max,
                ])
            return try rows.page(maxBytes: maxBytes) { row in
                let body = row.bytes(2)
                let table = UInt32(truncatingIfNeeded: row[0] as Int64)
                let key = try ObjectKey(parsingDetached: row.bytes(1))
                return ((row: ObjectRow(table: table, key: key), body: body), body.count)
            }
        }
    }

    func clientFiles(
        in realm: RealmID, state: ClientFileRecord.State?, after ident: FileIdent, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await query { db in
            try ClientFileRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ClientFileRecord.columns) FROM client_files f
                        WHERE f.realm = ? AND f.ident > ? \(state == nil ? "" : "AND f.state = ?")
                        ORDER BY f.ident LIMIT ?
                        """),
                arguments: [realm.value, ident.stored] + (state.map { [$0.rawValue] } ?? []) + [limit])
        }
    }
}
