internal import Changesets
internal import Foundation
internal import GRDB
internal import Merge
import SyncModel

extension HistoryEntry: FetchableRecord {
    fileprivate static let select = "SELECT version, timestamp, origin, remote, changeset, reciprocal FROM history"

    init(row: Row) {
        self.init(
            version: UInt64(clamping: row[0] as Int64), originTimestamp: UInt64(clamping: row[1] as Int64),
            originFile: UInt64(clamping: row[2] as Int64), remoteVersion: UInt64(clamping: row[3] as Int64),
            changeset: [UInt8](row[4] as Data), reciprocal: (row[5] as Data?).map { [UInt8]($0) })
    }
}

/// Reading a realm's sync history.
extension RealmFile {
    /// Local writes with something in them, above `after` and up to `upTo`, oldest first.
    func localEntries(after: UInt64, upTo: UInt64, limit: Int = .max) throws -> [HistoryEntry] {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    \(HistoryEntry.select) WHERE version > ? AND version <= ? AND origin = 0 AND length(changeset) > 0
                    ORDER BY version LIMIT ?
                    """)
            return try HistoryEntry.fetchAll(
                statement, arguments: [Int64(clamping: after), Int64(clamping: upTo), Int64(clamping: limit)])
        }
    }

    /// The local writes above `after` if they do nothing but add to the schema, else nil; and the file's version.
    func schemaAdditions(after: UInt64) throws -> (version: UInt64, changesets: [Changeset]?) {
        try read { database in
            let version = try Self.version(database)
            let entries = try HistoryEntry.fetchCursor(
                database,
                sql: """
                    \(HistoryEntry.select) WHERE version > ? AND origin = 0 AND length(changeset) > 0 ORDER BY version
                    """, arguments: [Int64(clamping: after)])
            var changesets: [Changeset] = []
            while let entry = try entries.next() {
                let changeset = try Changeset(parsing: entry.merged)
                guard changeset.onlyAddsToTheSchema else { return (version, nil) }
                changesets.append(changeset)
            }
            return (version, changesets)
        }
    }

    /// Everything from a version on, oldest first.
    func entries(from version: UInt64) throws -> [HistoryEntry] {
        try read { database in
            try HistoryEntry.fetchAll(
                database, sql: "\(HistoryEntry.select) WHERE version >= ? ORDER BY version",
                arguments: [Int64(clamping: version)])
        }
    }

    /// Goes through what an upload needs to know of the history above `after`, up to `upTo`, as far as `body` wants to.
    func scan<Result>(
        after: UInt64, upTo: UInt64, _ body: (AnySequence<ClientHistoryEntry>) -> Result
    ) throws -> Result {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT version, origin, length(changeset), remote FROM history
                    WHERE version > ? AND version <= ? ORDER BY version
                    """)
            let rows = try Row.fetchCursor(statement, arguments: [Int64(clamping: after), Int64(clamping: upTo)])
            var failure: (any Error)?
            let entries = AnyIterator { () -> ClientHistoryEntry? in
                do {
                    return try rows.next().map(Self.outline)
                } catch {
                    failure = error
                    return nil
                }
            }
            let result = body(AnySequence(entries))
            if let failure { throw failure }
            return result
        }
    }

    /// How much of the history above `after`, up to `upTo`, is still to be uploaded.
    func uploadableBytes(after: UInt64, upTo: UInt64) throws -> Int {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT COALESCE(SUM(length(changeset)), 0) FROM history
                    WHERE version > ? AND version <= ? AND origin = 0
                    """)
            return try Int.fetchOne(statement, arguments: [Int64(clamping: after), Int64(clamping: upTo)]) ?? 0
        }
    }

    private static func outline(_ row: Row) -> ClientHistoryEntry {
        ClientHistoryEntry(
            version: ClientVersion(UInt64(clamping: row[0] as Int64)), isLocal: row[1] as Int64 == 0, size: row[2],
            serverVersion: ServerVersion(UInt64(clamping: row[3] as Int64)))
    }
}

extension Changeset {
    fileprivate var onlyAddsToTheSchema: Bool {
        instructions.allSatisfy { instruction in
            switch instruction {
            case .addTable, .addColumn: true
            default: false
            }
        }
    }
}
