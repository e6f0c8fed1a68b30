import Foundation
import GRDB
package import Storage

extension SQLiteSliceStore {
    /// Free pages that a file keeps: what is deleted is mostly about to be written again.
    private static let keptPages = 512

    package func reclaim(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int {
        let kept = Self.keptPages
        let excess = try await read { db in try Self.freePages(db) - 2 * kept }
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

    package func openSnapshot() async throws(StoreError) -> any SliceReader {
        let file = database.path
        let slice = slice
        let database = database
        let opened: Result<SQLiteSliceStore, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result {
                        if file != ":memory:" { return try SQLiteSliceStore(reading: slice, file: file) }
                        // What is in memory has one connection: the snapshot is a copy.
                        let copy = try DatabaseQueue()
                        try database.backup(to: copy)
                        return SQLiteSliceStore(slice: slice, database: copy)
                    })
            }
        }
        let snapshot: SQLiteSliceStore
        do {
            snapshot = try opened.get()
        } catch {
            throw Self.translate(error, slice: slice)
        }
        if file != ":memory:" { try await snapshot.beginSnapshot() }
        return snapshot
    }
}
