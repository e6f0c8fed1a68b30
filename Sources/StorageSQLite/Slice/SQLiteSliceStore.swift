import Foundation
import GRDB
import Storage
import SyncModel

/// A slice in one SQLite file (`slice-<n>.sqlite`), or in memory.
///
/// There is one connection, and GRDB serves it on a queue of its own, so nothing here blocks a cooperative thread. Every
/// write begins IMMEDIATE: that, and the epoch check, make fencing hold among processes that open the same file.
final class SQLiteSliceStore: SQLiteSliceContent, SliceStore {
    let slice: SliceNumber
    let database: DatabaseQueue

    /// A store in memory that lives as long as this object.
    init(slice: SliceNumber) throws(StoreError) {
        self.slice = slice
        database = try Self.opened(slice, "in memory") { try DatabaseQueue(configuration: Self.configuration) }
    }

    /// - Parameter mayMake: whether a file that is missing or empty is filled.
    init(slice: SliceNumber, folder: String, mayMake: Bool = true) throws(StoreError) {
        self.slice = slice
        let file = Self.file(of: slice, in: folder)
        guard mayMake || FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.notFound, "slice \(slice) has no file \(file)")
        }
        database = try Self.opened(slice, file, mayMake: mayMake) {
            try SQLiteFiles.make(file, in: folder)
            return try DatabaseQueue(path: file, configuration: Self.configuration)
        }
    }

    static func file(of slice: SliceNumber, in folder: String) -> String {
        "\(folder)/slice-\(slice).sqlite"
    }

    private static var configuration: Configuration {
        var configuration = Configuration(label: "sluice.store.slice")
        configuration.prepareDatabase { db in
            // Before anything is in a new file; one that was made without it keeps the room it has.
            try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // FULL: an acknowledged change survives a power cut, not only a crash of the process. The limit is for the log
            // that a snapshot has made grow.
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
                    PRAGMA journal_size_limit = 67108864
                    """)
        }
        return configuration
    }

    private static func opened(
        _ slice: SliceNumber, _ place: String, mayMake: Bool = true, _ open: () throws -> DatabaseQueue
    ) throws(StoreError) -> DatabaseQueue {
        do {
            var attempt = 1
            while true {
                do {
                    return try prepared(try open(), slice, place, mayMake: mayMake)
                } catch let error as DatabaseError where attempt < 20 && isTransient(error) {
                    // Two workers that open a new file at the same moment stand in each other's way with its journal mode
                    // and its migrations; what the other one has done is found done when this one looks again.
                    Thread.sleep(forTimeInterval: 0.02 * Double(attempt))
                    attempt += 1
                }
            }
        } catch {
            throw Self.translate(error, slice: slice)
        }
    }

    private static func isTransient(_ error: DatabaseError) -> Bool {
        ![.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
    }

    private static func prepared(
        _ database: DatabaseQueue, _ slice: SliceNumber, _ place: String, mayMake: Bool
    ) throws -> DatabaseQueue {
        let migrator = SQLiteSliceSchema.migrator
        try database.writeWithoutTransaction { db in
            guard try mayMake || db.tableExists("meta") else {
                throw StoreError(.notFound, "slice \(slice) (\(place)) is empty")
            }
            guard try !migrator.hasBeenSuperseded(db) else {
                throw StoreError(.mismatch, "slice \(slice) (\(place)) was written by a newer version of Sluice")
            }
        }
        try migrator.migrate(database)
        try database.writeWithoutTransaction { db in
            try db.run("INSERT OR IGNORE INTO meta (key, value) VALUES ('slice', ?)", slice.description)
            try SQLiteSliceSchema.require(slice, in: place, db)
        }
        return database
    }

    /// Runs writes as one transaction that has the file's write lock from its beginning.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do {
            return try await database.writeWithoutTransaction { try $0.transact(body) }
        } catch {
            throw Self.translate(error, slice: slice)
        }
    }

    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError) {
        let slice = slice
        try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            var commit = SQLiteCommit(batch, db)
            try commit.run()
        }
    }

    static func translate(_ error: any Error, slice: SliceNumber) -> StoreError {
        SQLiteFailure.storeError(error, "slice \(slice) cannot be used")
    }
}
