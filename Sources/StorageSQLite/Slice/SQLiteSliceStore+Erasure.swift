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
    /// - Parameter rest: of a statement that selects erasures.
    private func erasures(
        _ rest: String, _ arguments: (any DatabaseValueConvertible)?...
    ) async throws(StoreError) -> [ErasureRecord] {
        let arguments = StatementArguments(arguments)
        return try await query { db in
            try ErasureRecord.fetchAll(
                db.cachedStatement(sql: "SELECT \(ErasureRecord.columns) FROM erasures \(rest)"), arguments: arguments)
        }
    }

    func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("WHERE app = ? AND partition = ? ORDER BY realm DESC", name.app, name.partition)
    }

    func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("WHERE NOT swept ORDER BY realm LIMIT ?", limit)
    }

    func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("WHERE at >= ? ORDER BY at DESC LIMIT ?", since.stored, limit)
    }

    func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("WHERE at < ? AND swept ORDER BY at LIMIT ?", before.stored, limit)
    }

    func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("WHERE app = ? LIMIT ?", app, limit)
    }

    func appErasures() async throws(StoreError) -> [AppErasureRecord] {
        try await rows("SELECT app, realms FROM app_erasures ORDER BY app") { row in
            AppErasureRecord(app: row[0], realms: row[1])
        }
    }

    func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await rows(
            "SELECT \(RealmRecord.columns) FROM realms WHERE app = ? LIMIT ?", app, limit, as: RealmRecord.init(row:))
    }

    func countRealms(ofApp app: String) async throws(StoreError) -> Int {
        try await count("SELECT count(*) FROM realms WHERE app = ?", app)
    }

    static let countingClientFiles =
        "SELECT count(*) FROM client_files WHERE realm = ? AND state IN ('live', 'resetRequired')"

    func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int {
        try await count(Self.countingClientFiles, realm.value)
    }

    func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Bool {
        let slice = slice
        return try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            return try SQLiteSweep(realm: realm, maxRows: maxRows, maxBytes: maxBytes).run(db)
        }
    }
}
