internal import Changesets
internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel
internal import Synchronization

/// The objects of one version of a realm's file, read when they are asked for.
///
/// A connection of its own keeps a read transaction open, in which SQLite goes on showing that version whatever is committed. When the last
/// state that stands on the version is gone, the connection goes back to the file.
final class FileVersion: StateBase {
    private let file: RealmFile
    /// The connection, which is in a read transaction.
    private let reader: Mutex<DatabaseQueue>
    private let cache: ObjectCache
    private let counts: Mutex<[TableID: Int]>
    /// The greatest key of each class that was asked for so far, as the file has it; nil for a class without objects.
    private let lastKeys = Mutex<[TableID: [UInt8]?]>([:])
    /// Once they have been asked for.
    private let indexes = Mutex<IndexedProperties?>(nil)

    /// - Parameter reader: in a read transaction.
    init(_ file: RealmFile, _ reader: DatabaseQueue) {
        self.file = file
        self.reader = Mutex(reader)
        cache = ObjectCache()
        counts = Mutex([:])
    }

    /// A newer version, which takes over what is known of the one that a state stands on, as far as the state has not changed it.
    init(_ file: RealmFile, _ reader: DatabaseQueue, after base: FileVersion, with state: RealmState) {
        self.file = file
        self.reader = Mutex(reader)
        var changed: [ObjectCache.Slot] = []
        state.forEachKnownKey { changed.append(.init(table: $0, key: $1)) }
        cache = ObjectCache(base.cache, without: changed)
        var known = base.counts.withLock { $0 }
        for table in state.schema.tables where known[table.id] != nil {
            known[table.id] = state.objectCount(of: table.name)
        }
        counts = Mutex(known)
    }

    deinit { reader.withLock { file.readers.end($0) } }

    /// Reads on in a transaction that begins now. To be called while the file still has this version.
    func renew(_ version: ClientVersion) throws {
        guard let new = try file.readers.begin(at: version) else { return }
        let old = reader.withLock { reader in
            defer { reader = new }
            return reader
        }
        file.readers.end(old)
    }

    // MARK: StateBase

    func object(_ key: ObjectKey, of table: TableID) -> StoredObject? {
        let slot = ObjectCache.Slot(table: table, key: key)
        if let known = cache.object(slot) { return known }
        let stored = key.orderedBytes()
        // Most new objects have the greatest key so far.
        if let last = lastKeys.withLock({ $0[table] }), last?.precedesAsBlob(stored) ?? true { return nil }
        return read(or: nil) { database in
            guard let last = try lastKey(of: table, database), !last.precedesAsBlob(stored) else { return nil }
            let statement = try database.cachedStatement(sql: "SELECT value FROM objects WHERE class = ? AND key = ?")
            let value = try Data.fetchOne(statement, arguments: [table.rawValue, Data(stored)])
            let object = try value.map { try StoredObject(decoding: [UInt8]($0)) }
            cache.add(slot, object, bytes: value?.count ?? 0)
            return object
        }
    }

    private func lastKey(of table: TableID, _ database: Database) throws -> [UInt8]? {
        if let known = lastKeys.withLock({ $0[table] }) { return known }
        let statement = try database.cachedStatement(
            sql: "SELECT key FROM objects WHERE class = ? ORDER BY key DESC LIMIT 1")
        let last = try Data.fetchOne(statement, arguments: [table.rawValue]).map { [UInt8]($0) }
        lastKeys.withLock { $0[table] = .some(last) }
        return last
    }

    func count(of table: TableID) -> Int {
        if let known = counts.withLock({ $0[table] }) { return known }
        return read(or: 0) { try count(of: table, $0) }
    }

    private func count(of table: TableID, _ database: Database) throws -> Int {
        if let known = counts.withLock({ $0[table] }) { return known }
        let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM objects WHERE class = ?")
        let count = try Int.fetchOne(statement, arguments: [table.rawValue]) ?? 0
        counts.withLock { $0[table] = count }
        return count
    }

    func keys(of table: TableID, after key: ObjectKey?, limit: Int) -> [ObjectKey] {
        read(or: []) { database in
            let statement = try database.cachedStatement(
                sql: "SELECT key FROM objects WHERE class = ? AND key > ? ORDER BY key LIMIT ?")
            let rows = try Data.fetchCursor(
                statement, arguments: [table.rawValue, key?.orderedEncoding() ?? Data(), limit])
            var keys: [ObjectKey] = []
            while let key = try rows.next() { keys.append(try ObjectKey(ordered: key)) }
            return keys
        }
    }

    /// The bytes of objects at which a page ends; its last object may exceed them.
    private static let pageBytes = 256 << 10

    func objects(of table: TableID, after key: ObjectKey?) -> [(key: ObjectKey, object: StoredObject)] {
        read(or: []) { database in
            let statement = try database.cachedStatement(
                sql: "SELECT key, value FROM objects WHERE class = ? AND key > ? ORDER BY key LIMIT 1000")
            let rows = try Row.fetchCursor(statement, arguments: [table.rawValue, key?.orderedEncoding() ?? Data()])
            var page: [(key: ObjectKey, object: StoredObject)] = []
            var bytes = 0
            while bytes < Self.pageBytes, let row = try rows.next() {
                let value: Data = row[1]
                bytes += value.count
                page.append((try ObjectKey(ordered: row[0]), try StoredObject(decoding: [UInt8](value))))
            }
            return page
        }
    }

    func objects(at keys: [ObjectKey], of table: TableID) -> [StoredObject?] {
        read(or: keys.map { _ in nil }) { database in
            let statement = try database.cachedStatement(sql: "SELECT value FROM objects WHERE class = ? AND key = ?")
            return try keys.map { key in
                try Data.fetchOne(statement, arguments: [table.rawValue, key.orderedEncoding()])
                    .map { try StoredObject(decoding: [UInt8]($0)) }
            }
        }
    }

    /// So many objects are looked up one by one, or an eighth of the class, rather than gone through with the class.
    private static let selectionLimit = 1000

    func keys(of table: TableID, having column: ColumnID, in ranges: [OrderedBytes.Range]) -> [ObjectKey]? {
        guard isIndexed(column, of: table) else { return nil }
        return read(or: nil) { database in
            // Counting goes through the class: only for those that find many.
            var limit = Self.selectionLimit
            func isEnough(_ count: Int) throws -> Bool {
                if count == Self.selectionLimit { limit = max(limit, try self.count(of: table, database) / 8) }
                return count >= limit
            }
            let statement = try database.cachedStatement(
                sql: "SELECT key FROM indexed WHERE class = ? AND property = ? AND value >= ? AND value <= ?")
            var keys: [ObjectKey] = []
            for range in ranges {
                let rows = try Data.fetchCursor(
                    statement, arguments: [table.rawValue, column.rawValue, Data(range.low), Data(range.high)])
                while let key = try rows.next() {
                    guard try !isEnough(keys.count) else { return nil }
                    keys.append(try ObjectKey(ordered: key))
                }
            }
            return keys
        }
    }

    private func isIndexed(_ column: ColumnID, of table: TableID) -> Bool {
        if let known = indexes.withLock({ $0 }) { return known.contains(column, of: table) }
        let found = read(or: nil) { try IndexedProperties.stored(in: $0) }
        guard let found else { return false }
        indexes.withLock { $0 = found }
        return found.contains(column, of: table)
    }

    func sources(linkingTo target: ObjectAddress) -> [(table: TableID, key: ObjectKey)] {
        read(or: []) { database in
            let statement = try database.cachedStatement(sql: "SELECT class, key FROM links WHERE target = ?")
            let rows = try Row.fetchCursor(statement, arguments: [Data(DerivedRows.encoded(target))])
            var sources: [(table: TableID, key: ObjectKey)] = []
            while let row = try rows.next() {
                sources.append((TableID(rawValue: row[0]), try ObjectKey(ordered: row[1])))
            }
            return sources
        }
    }

    /// - Parameter fallback: what is said if the read fails, where that can be noted.
    private func read<Result>(or fallback: Result, _ body: (Database) throws -> Result) -> Result {
        do {
            var result = fallback
            try reader.withLock { result = try $0.unsafeRead(body) }
            return result
        } catch {
            ReadFailures.note(FileFailure.named(error, file.url))
            return fallback
        }
    }
}
