import Foundation
import GRDB
import Storage
import SyncModel

/// A slice's file opened for reading only, beside its owner.
final class SQLiteSliceReader: SQLiteSliceContent, SliceReader {
    let slice: SliceNumber
    let database: DatabaseQueue

    init(slice: SliceNumber, database: DatabaseQueue) {
        self.slice = slice
        self.database = database
    }

    /// Opens an existing file. Blocks.
    init(slice: SliceNumber, file: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.notFound, "slice \(slice) has no file \(file)")
        }
        self.slice = slice
        do {
            var configuration = Configuration(label: "sluice.reader.slice", readsOnly: true)
            // A snapshot is a transaction over several calls.
            configuration.allowsUnsafeTransactions = true
            database = try DatabaseQueue(path: file, configuration: configuration)
            try database.read { db in
                let migrator = SQLiteSliceSchema.migrator
                guard try !migrator.hasBeenSuperseded(db), try migrator.hasCompletedMigrations(db) else {
                    throw StoreError(.mismatch, "slice \(slice) (\(file)) was written by another version of Sluice")
                }
                try SQLiteSliceSchema.require(slice, in: file, db)
            }
        } catch {
            throw SQLiteSliceStore.translate(error, slice: slice)
        }
    }

    /// The owner's log cannot be emptied until `body` returns.
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceReader) async throws -> Value
    ) async throws -> Value {
        try await query { db in
            // DEFERRED: the snapshot is taken by the first read.
            try db.execute(sql: "BEGIN DEFERRED")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM meta")
        }
        do {
            let value = try await body(self)
            try await endSnapshot()
            return value
        } catch {
            try? await endSnapshot()
            throw error
        }
    }

    private func endSnapshot() async throws(StoreError) {
        try await query { db in
            if db.isInsideTransaction { try db.execute(sql: "ROLLBACK") }
        }
    }

    func clientFileCounts(in realm: RealmID) async throws(StoreError) -> [ClientFileRecord.State: Int] {
        let counts = try await rows(
            "SELECT state, count(*) FROM client_files WHERE realm = ? GROUP BY state", realm.value
        ) { row in ClientFileRecord.State(rawValue: row[0]).map { ($0, row[1] as Int) } }
        return Dictionary(counts.compactMap(\.self), uniquingKeysWith: +)
    }

    func clientFilesAhead(limit: Int) async throws(StoreError) -> [ListedClientFile] {
        try await rows(
            """
            SELECT \(ListedClientFile.columns) FROM client_files f JOIN realms r ON r.id = f.realm
            WHERE f.ahead IS NOT NULL ORDER BY f.realm, f.ident LIMIT ?
            """, limit, as: ListedClientFile.init(row:))
    }

    func objectCount(in realm: RealmID) async throws(StoreError) -> Int {
        try await count("SELECT count(*) FROM objects WHERE realm = ?", realm.value)
    }

    func weight(of realm: RealmID) async throws(StoreError) -> RealmWeight {
        try await query { db in
            let objects = try Row.fetchOne(
                db, sql: "SELECT count(*), total(length(body)) FROM objects WHERE realm = ?", arguments: [realm.value])
            let history = try Double.fetchOne(
                db, sql: "SELECT total(length(changeset)) FROM history WHERE realm = ?", arguments: [realm.value])
            let files = try Int.fetchOne(
                db, sql: SQLiteSliceStore.countingClientFiles, arguments: [realm.value])
            return RealmWeight(
                objects: objects?[0] ?? 0, clientRealms: files ?? 0,
                bytes: UInt64((objects?[1] as Double? ?? 0) + (history ?? 0)))
        }
    }

    func historySpan(of key: HistoryKey) async throws(StoreError) -> VersionSpan? {
        try await rows(
            "SELECT min(version), max(version), count(*) FROM history WHERE realm = ? AND generation = ?",
            key.realm.value, key.series
        ) { Self.span($0, at: 0) }.first.flatMap(\.self)
    }

    func reciprocalSpans(in realm: RealmID) async throws(StoreError) -> [FileIdent: VersionSpan] {
        let spans = try await rows(
            "SELECT ident, min(version), max(version), count(*) FROM reciprocals WHERE realm = ? GROUP BY ident",
            realm.value
        ) { row in Self.span(row, at: 1).map { (FileIdent(stored: row[0]), $0) } }
        return Dictionary(spans.compactMap(\.self), uniquingKeysWith: { first, _ in first })
    }

    func problems(limit: Int) async throws(StoreError) -> [String] {
        try await query { db in
            try String.fetchAll(db, sql: "PRAGMA quick_check(\(limit))").filter { $0 != "ok" }
        }
    }

    private static func span(_ row: Row, at column: Int) -> VersionSpan? {
        guard let first = row[column] as Int64?, let last = row[column + 1] as Int64? else { return nil }
        return VersionSpan(
            first: .init(stored: first), last: .init(stored: last), count: UInt64(stored: row[column + 2]))
    }
}
