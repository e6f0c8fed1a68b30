import Foundation
import GRDB
import Messages
package import Storage

extension SQLiteSliceStore: SliceReader {
    /// Opens an existing file for reading only.
    convenience init(reading slice: SliceNumber, file: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.notFound, "slice \(slice) has no file \(file)")
        }
        do {
            var configuration = Configuration()
            configuration.label = "sluice.reader.slice"
            configuration.busyMode = .timeout(10)
            configuration.readonly = true
            // A snapshot is a transaction over several calls.
            configuration.allowsUnsafeTransactions = true
            let database = try DatabaseQueue(path: file, configuration: configuration)
            try database.read { db in
                let migrator = SQLiteSliceSchema.migrator
                guard try !migrator.hasBeenSuperseded(db), try migrator.hasCompletedMigrations(db) else {
                    throw StoreError(.mismatch, "slice \(slice) (\(file)) was written by another version of Sluice")
                }
                let recorded = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'slice'")
                guard recorded == slice.description else {
                    throw StoreError(.mismatch, "\(file) holds slice \(recorded ?? "?"); expected slice \(slice)")
                }
            }
            self.init(slice: slice, database: database)
        } catch {
            throw Self.translate(error, slice: slice)
        }
    }

    package func beginSnapshot() async throws(StoreError) {
        try await read { db in
            // DEFERRED: the snapshot is taken by the first read.
            try db.execute(sql: "BEGIN DEFERRED")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM meta")
        }
    }

    package func endSnapshot() async throws(StoreError) {
        try await read { db in
            if db.isInsideTransaction { try db.execute(sql: "ROLLBACK") }
        }
    }

    package func clientFileCounts(in realm: RealmID) async throws(StoreError) -> [ClientFileRecord.State: Int] {
        try await read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT state, count(*) FROM client_files WHERE realm = ? GROUP BY state",
                arguments: [realm.value])
            return Dictionary(
                rows.compactMap { row in
                    ClientFileRecord.State(rawValue: row[0] as String).map { ($0, row[1] as Int) }
                },
                uniquingKeysWith: +)
        }
    }

    package func objectCount(in realm: RealmID) async throws(StoreError) -> Int {
        try await read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM objects WHERE realm = ?", arguments: [realm.value]) ?? 0
        }
    }

    package func historySpan(of key: HistoryKey) async throws(StoreError) -> VersionSpan? {
        try await read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT min(version), max(version), count(*) FROM history WHERE realm = ? AND generation = ?
                    """,
                arguments: [key.realm.value, key.series]
            ).flatMap { Self.span($0, at: 0) }
        }
    }

    package func reciprocalSpans(in realm: RealmID) async throws(StoreError) -> [UInt64: VersionSpan] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT ident, min(version), max(version), count(*) FROM reciprocals WHERE realm = ? GROUP BY ident
                    """,
                arguments: [realm.value])
            return Dictionary(
                rows.compactMap { row in Self.span(row, at: 1).map { (UInt64(stored: row[0]), $0) } },
                uniquingKeysWith: { first, _ in first })
        }
    }

    package func integrityProblems(limit: Int) async throws(StoreError) -> [String] {
        try await read { db in
            try String.fetchAll(db, sql: "PRAGMA quick_check(\(limit))").filter { $0 != "ok" }
        }
    }

    private static func span(_ row: Row, at column: Int) -> VersionSpan? {
        guard let first = row[column] as Int64?, let last = row[column + 1] as Int64? else { return nil }
        return VersionSpan(
            first: UInt64(stored: first), last: UInt64(stored: last), count: UInt64(stored: row[column + 2]))
    }
}
