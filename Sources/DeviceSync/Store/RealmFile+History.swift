internal import Changesets
internal import Foundation
internal import GRDB
internal import Merge
import SyncModel

extension WireInteger {
    /// The number as SQLite's columns have it.
    var column: Int64 { Int64(clamping: rawValue) }
    init(column: Int64) { self.init(rawValue: UInt64(clamping: column)) }
}

extension HistoryEntry: FetchableRecord {
    fileprivate static let select = "SELECT version, timestamp, origin, remote, changeset, reciprocal FROM history"

    init(row: Row) {
        self.init(
            version: ClientVersion(column: row[0]), originTimestamp: SyncTimestamp(column: row[1]),
            originFile: FileIdent(column: row[2]), remoteVersion: ServerVersion(column: row[3]),
            changeset: [UInt8](row[4] as Data), reciprocal: (row[5] as Data?).map { [UInt8]($0) })
    }
}

/// Reading a realm's sync history.
extension RealmFile {
    /// Local writes with something in them, above `after` and up to `upTo`, oldest first.
    func localEntries(after: ClientVersion, upTo: ClientVersion, limit: Int = .max) throws -> [HistoryEntry] {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    \(HistoryEntry.select) WHERE version > ? AND version <= ? AND origin = 0 AND length(changeset) > 0
                    ORDER BY version LIMIT ?
                    """)
            return try HistoryEntry.fetchAll(
                statement, arguments: [after.column, upTo.column, Int64(clamping: limit)])
        }
    }

    /// The local writes above `after` if they do nothing but add to the schema, else nil; and the file's version.
    func schemaAdditions(after: ClientVersion) throws -> (version: ClientVersion, changesets: [Changeset]?) {
        try read { database in
            let version = try Self.version(database)
            let entries = try HistoryEntry.fetchCursor(
                database,
                sql: """
                    \(HistoryEntry.select) WHERE version > ? AND origin = 0 AND length(changeset) > 0 ORDER BY version
                    """, arguments: [after.column])
            var changesets: [Changeset] = []
            while let entry = try entries.next() {
                let changeset = try Changeset(parsing: entry.merged)
                guard changeset.onlyAddsToTheSchema else { return (version, nil) }
                changesets.append(changeset)
            }
            return (version, changesets)
        }
    }

    /// Local writes above `after` that the server has acknowledged and that are in the history no more, oldest first, as far
    /// as they are kept: a server that was put back to an earlier state asks for them.
    func acknowledgedEntries(after: ClientVersion) throws -> [HistoryEntry] {
        try read { database in
            try HistoryEntry.fetchAll(
                database,
                sql: """
                    SELECT version, timestamp, 0, remote, changeset, NULL FROM acknowledged
                    WHERE version > ? ORDER BY version
                    """, arguments: [after.column])
        }
    }

    /// Bytes of acknowledged writes that are kept of a realm.
    static let keptAcknowledged = 4 << 20

    /// Keeps the local writes that are about to leave the history, the newest `keptAcknowledged` bytes of them. Each row has the
    /// bytes of all that came before it, so that what is too old is found without adding them up.
    static func keepAcknowledged(before kept: Int64, _ database: Database) throws {
        let newest = try database.cachedStatement(sql: "SELECT total FROM acknowledged ORDER BY version DESC LIMIT 1")
        var total = try Int64.fetchOne(newest) ?? 0
        let leaving = try HistoryEntry.fetchCursor(
            database.cachedStatement(
                sql: """
                    \(HistoryEntry.select) WHERE version < ? AND origin = 0 AND length(changeset) > 0 ORDER BY version
                    """), arguments: [kept])
        let insert = try database.cachedStatement(
            sql:
                "INSERT OR REPLACE INTO acknowledged(version, timestamp, remote, changeset, total) VALUES(?, ?, ?, ?, ?)"
        )
        var isChanged = false
        while let entry = try leaving.next() {
            total += Int64(entry.merged.count)
            isChanged = true
            try insert.execute(arguments: [
                entry.version.column, entry.originTimestamp.column, entry.remoteVersion.column, Data(entry.merged),
                total,
            ])
        }
        guard isChanged else { return }
        try database.cachedStatement(sql: "DELETE FROM acknowledged WHERE total <= ?")
            .execute(arguments: [total - Int64(keptAcknowledged)])
    }

    /// Everything from a version on, oldest first.
    func entries(from version: ClientVersion) throws -> [HistoryEntry] {
        try read { database in
            try HistoryEntry.fetchAll(
                database, sql: "\(HistoryEntry.select) WHERE version >= ? ORDER BY version",
                arguments: [version.column])
        }
    }

    /// Goes through what an upload needs to know of the history above `after`, up to `upTo`, as far as `body` wants to.
    func scan<Result>(
        after: ClientVersion, upTo: ClientVersion, _ body: (AnySequence<ClientHistoryEntry>) -> Result
    ) throws -> Result {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT version, origin, length(changeset), remote FROM history
                    WHERE version > ? AND version <= ? ORDER BY version
                    """)
            let rows = try Row.fetchCursor(statement, arguments: [after.column, upTo.column])
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
    func uploadableBytes(after: ClientVersion, upTo: ClientVersion) throws -> Int {
        try read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT COALESCE(SUM(length(changeset)), 0) FROM history
                    WHERE version > ? AND version <= ? AND origin = 0
                    """)
            return try Int.fetchOne(statement, arguments: [after.column, upTo.column]) ?? 0
        }
    }

    private static func outline(_ row: Row) -> ClientHistoryEntry {
        ClientHistoryEntry(
            version: ClientVersion(column: row[0]), isLocal: row[1] as Int64 == 0, size: row[2],
            serverVersion: ServerVersion(column: row[3]))
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
