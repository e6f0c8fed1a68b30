import Foundation
import GRDB
import Storage
import SyncModel

extension ErasureRecord: FetchableRecord {
    static let columns = """
        realm, app, partition, generation, version, next_ident, campaign, at, found, reported, last_reported, swept, \
        schema
        """

    init(row: Row) {
        self.init(
            realm: RealmID(row[0]), name: RealmName(app: row[1], partition: row[2]), generation: UInt64(stored: row[3]),
            version: .init(stored: row[4]), schema: row.bytes(12), nextIdent: .init(stored: row[5]), campaign: row[6],
            at: UInt64(stored: row[7]), found: row[8], reported: row[9], lastReported: .init(stored: row[10]),
            isSwept: row[11])
    }
}

extension SQLiteSliceStore {
    func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord] {
        try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ErasureRecord.columns) FROM erasures WHERE app = ? AND partition = ? ORDER BY realm DESC
                        """),
                arguments: [name.app, name.partition])
        }
    }

    func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(
                    sql: "SELECT \(ErasureRecord.columns) FROM erasures WHERE NOT swept ORDER BY realm LIMIT ?"),
                arguments: [limit])
        }
    }

    func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(
                    sql: "SELECT \(ErasureRecord.columns) FROM erasures WHERE at >= ? ORDER BY at DESC LIMIT ?"),
                arguments: [since.stored, limit])
        }
    }

    func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(
                    sql: "SELECT \(ErasureRecord.columns) FROM erasures WHERE at < ? AND swept ORDER BY at LIMIT ?"),
                arguments: [before.stored, limit])
        }
    }

    func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(sql: "SELECT \(ErasureRecord.columns) FROM erasures WHERE app = ? LIMIT ?"),
                arguments: [app, limit])
        }
    }

    func appErasures() async throws(StoreError) -> [AppErasureRecord] {
        try await query { db in
            try Row.fetchAll(db, sql: "SELECT app, realms FROM app_erasures ORDER BY app").map { row in
                AppErasureRecord(app: row[0], realms: row[1])
            }
        }
    }

    func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await query { db in
            try RealmRecord.fetchAll(
                db.cachedStatement(sql: "SELECT \(RealmRecord.columns) FROM realms WHERE app = ? LIMIT ?"),
                arguments: [app, limit])
        }
    }

    func countRealms(ofApp app: String) async throws(StoreError) -> Int {
        try await query { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM realms WHERE app = ?", arguments: [app]) ?? 0
        }
    }

    static let countingClientFiles =
        "SELECT count(*) FROM client_files WHERE realm = ? AND state IN ('live', 'resetRequired')"

    func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int {
        try await query { db in
            try Int.fetchOne(db, sql: Self.countingClientFiles, arguments: [realm.value]) ?? 0
        }
    }

    // MARK: Writing

    static func putErasures(_ batch: SliceBatch, _ db: Database) throws {
        for record in batch.erasures {
            try db.run("DELETE FROM realms WHERE id = ?", record.realm.value)
            try db.run(
                """
                INSERT OR REPLACE INTO erasures (realm, app, partition, generation, version, next_ident, campaign, at,
                    found, reported, last_reported, swept, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, record.realm.value, record.name.app, record.name.partition, record.generation.stored,
                record.version.stored, record.nextIdent.stored, record.campaign, record.at.stored, record.found,
                record.reported, record.lastReported.stored, record.isSwept, Data(record.schema))
        }
        for realm in batch.erasureRemovals { try db.run("DELETE FROM erasures WHERE realm = ?", realm.value) }
        for record in batch.appErasures {
            try db.run("INSERT OR REPLACE INTO app_erasures (app, realms) VALUES (?, ?)", record.app, record.realms)
        }
        for app in batch.appRemovals {
            for table in ["app_generations", "reset_holds", "app_erasures", "user_usage", "termination_steps"] {
                try db.run("DELETE FROM \(table) WHERE app = ?", app)
            }
        }
    }

    static func removeClientFiles(_ keys: [ClientFileKey], _ db: Database) throws {
        for key in keys {
            let arguments: StatementArguments = [key.realm.value, key.ident.stored]
            for (table, column) in [("client_files", "ident"), ("reciprocals", "ident"), ("reset_cases", "ident_old")] {
                try db.cachedStatement(sql: "DELETE FROM \(table) WHERE realm = ? AND \(column) = ?")
                    .execute(arguments: arguments)
            }
        }
    }

    // MARK: Sweeping

    /// A table with rows of realms: the columns of its key after the realm, and what counts as a row's bytes.
    private struct Swept {
        var table: String
        var key: [String]
        var bytes = "0"
    }

    private static let swept = [
        Swept(table: "objects", key: ["table_id", "key"], bytes: "length(body)"),
        Swept(table: "history", key: ["generation", "version"], bytes: "length(changeset)"),
        Swept(table: "history_digests", key: ["generation", "through"], bytes: "length(body)"),
        Swept(table: "bases", key: ["version"]),
        Swept(table: "reciprocals", key: ["ident", "version"], bytes: "length(changeset)"),
        Swept(table: "reset_cases", key: ["ident_old"], bytes: "length(body)"),
        Swept(table: "client_files", key: ["ident"]),
    ]

    func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Bool {
        let slice = slice
        return try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            var (rows, bytes) = (0, 0)
            for swept in Self.swept {
                while let end = try Self.stretch(of: swept, in: realm, maxRows - rows, maxBytes - bytes, db) {
                    let columns = swept.key.joined(separator: ", ")
                    let places = swept.key.map { _ in "?" }.joined(separator: ", ")
                    try db.cachedStatement(
                        sql: "DELETE FROM \(swept.table) WHERE realm = ? AND (\(columns)) <= (\(places))"
                    ).execute(arguments: [realm.value] + StatementArguments(end.key))
                    rows += end.rows
                    bytes += end.bytes
                    guard rows < maxRows, bytes < maxBytes else { return false }
                }
            }
            return true
        }
    }

    /// The key of the last of a table's first rows that one step may delete, and how much they are; nil if there are none.
    private static func stretch(
        of swept: Swept, in realm: RealmID, _ maxRows: Int, _ maxBytes: Int, _ db: Database
    ) throws -> (key: [DatabaseValue], rows: Int, bytes: Int)? {
        let columns = swept.key.joined(separator: ", ")
        let found = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT \(swept.bytes), \(columns) FROM \(swept.table) WHERE realm = ? ORDER BY \(columns) LIMIT ?
                    """), arguments: [realm.value, max(1, maxRows)])
        var (rows, bytes) = (0, 0)
        var key: [DatabaseValue]?
        while rows == 0 || bytes < maxBytes, let row = try found.next() {
            rows += 1
            bytes += row[0] as Int
            key = row.databaseValues.dropFirst().map { $0 }
        }
        return key.map { ($0, rows, bytes) }
    }
}
