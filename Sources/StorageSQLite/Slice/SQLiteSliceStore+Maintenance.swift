import Foundation
import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> ServerVersion? {
        try await query { db in
            try Int64.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT min(max(upload_server, start)) FROM client_files
                        WHERE realm = ? AND state = 'live' AND generation = ? AND start IS NOT NULL
                        """),
                arguments: [realm.value, generation.stored]
            ).map(ServerVersion.init(stored:))
        }
    }

    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool {
        try await query { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT 1 FROM client_files
                        WHERE realm = ? AND state = 'live' AND generation = ? AND start = ? AND upload_server < start
                        """),
                arguments: [base.realm.value, base.generation.stored, base.version.stored]) != nil
        }
    }

    func historyStretch(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> ServerVersion? {
        guard after < through else { return nil }
        return try await query { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT version, cumulative FROM history
                        WHERE realm = ? AND generation = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?
                        """),
                arguments: [key.realm.value, key.series, after.stored, through.stored, maxVersions])
            var end: ServerVersion?
            var start: UInt64 = 0
            while let row = try rows.next() {
                let cumulative = UInt64(stored: row[1])
                if end == nil { start = cumulative }
                end = ServerVersion(stored: row[0])
                if cumulative &- start >= maxBytes { break }
            }
            return end
        }
    }

    // MARK: A consistent view

    /// What is in memory has one connection: its snapshot is a copy. A file's is a second connection.
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceContent) async throws -> Value
    ) async throws -> Value {
        let (file, slice, database) = (database.path, slice, database)
        let isFile = file != ":memory:"
        let snapshot: SQLiteSliceReader
        do {
            snapshot = try await onOwnThread {
                if isFile { return try SQLiteSliceReader(slice: slice, file: file) }
                let copy = try DatabaseQueue()
                try database.backup(to: copy)
                return SQLiteSliceReader(slice: slice, database: copy)
            }
        } catch {
            throw Self.translate(error, slice: slice)
        }
        return isFile ? try await snapshot.withSnapshot { try await body($0) } : try await body(snapshot)
    }

    // MARK: Space

    /// Free pages that a file keeps: what is deleted is mostly about to be written again.
    private static let keptPages = 512

    func returnSpace(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int {
        let kept = Self.keptPages
        let excess = try await query { db in try Self.freePages(db) - 2 * kept }
        guard excess > 0 else { return 0 }
        let slice = slice
        return try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
            let free = try Self.freePages(db)
            let pages = min(free - kept, maxBytes / pageSize)
            guard pages > 0 else { return 0 }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(pages))")
            return (free - (try Self.freePages(db))) * pageSize
        }
    }

    private static func freePages(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
