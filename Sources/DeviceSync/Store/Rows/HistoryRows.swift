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

/// A realm's sync history: what the next upload reads and the next download is merged with.
struct HistoryRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS history(
            version INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, origin INTEGER NOT NULL, remote INTEGER NOT NULL,
            changeset BLOB NOT NULL, reciprocal BLOB);
        CREATE TABLE IF NOT EXISTS acknowledged(
            version INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, remote INTEGER NOT NULL, changeset BLOB NOT NULL,
            total INTEGER NOT NULL);
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Reading

    /// Local writes with something in them, above `after` and up to `upTo`, oldest first.
    func localEntries(after: ClientVersion, upTo: ClientVersion, limit: Int = .max) throws -> [HistoryEntry] {
        let statement = try database.cachedStatement(
            sql: """
                \(HistoryEntry.select) WHERE version > ? AND version <= ? AND origin = 0 AND length(changeset) > 0
                ORDER BY version LIMIT ?
                """)
        return try HistoryEntry.fetchAll(statement, arguments: [after.column, upTo.column, Int64(clamping: limit)])
    }

    /// The local writes above `after` if they do nothing but add to the schema, else nil.
    func schemaAdditions(after: ClientVersion) throws -> [Changeset]? {
        let entries = try HistoryEntry.fetchCursor(
            database,
            sql: """
                \(HistoryEntry.select) WHERE version > ? AND origin = 0 AND length(changeset) > 0 ORDER BY version
                """, arguments: [after.column])
        var changesets: [Changeset] = []
        while let entry = try entries.next() {
            let changeset = try Changeset(parsing: entry.merged)
            guard changeset.onlyAddsToTheSchema else { return nil }
            changesets.append(changeset)
        }
        return changesets
    }

    /// Local writes above `after` that the server has acknowledged and that are in the history no more, oldest first, as far
    /// as they are kept: a server that was put back to an earlier state asks for them.
    func acknowledgedEntries(after: ClientVersion) throws -> [HistoryEntry] {
        try HistoryEntry.fetchAll(
            database,
            sql: """
                SELECT version, timestamp, 0, remote, changeset, NULL FROM acknowledged
                WHERE version > ? ORDER BY version
                """, arguments: [after.column])
    }

    /// Everything from a version on, oldest first.
    func entries(from version: ClientVersion) throws -> [HistoryEntry] {
        try HistoryEntry.fetchAll(
            database, sql: "\(HistoryEntry.select) WHERE version >= ? ORDER BY version", arguments: [version.column])
    }

    /// Goes through what an upload needs to know of the history above `after`, up to `upTo`, as far as `body` wants to.
    func scan<Result>(
        after: ClientVersion, upTo: ClientVersion, _ body: (AnySequence<ClientHistoryEntry>) -> Result
    ) throws -> Result {
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

    /// How much of the history above `after`, up to `upTo`, is still to be uploaded.
    func uploadableBytes(after: ClientVersion, upTo: ClientVersion) throws -> Int {
        let statement = try database.cachedStatement(
            sql: """
                SELECT COALESCE(SUM(length(changeset)), 0) FROM history
                WHERE version > ? AND version <= ? AND origin = 0
                """)
        return try Int.fetchOne(statement, arguments: [after.column, upTo.column]) ?? 0
    }

    private static func outline(_ row: Row) -> ClientHistoryEntry {
        ClientHistoryEntry(
            version: ClientVersion(column: row[0]), isLocal: row[1] as Int64 == 0, size: row[2],
            serverVersion: ServerVersion(column: row[3]))
    }

    /// The timestamp of the newest local write; 0 if there is none.
    func lastLocalTimestamp() throws -> SyncTimestamp {
        let timestamp = try Int64.fetchOne(database, sql: "SELECT MAX(timestamp) FROM history WHERE origin = 0")
        return SyncTimestamp(column: timestamp ?? 0)
    }

    // MARK: Writing

    func insert(_ entry: HistoryEntry) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO history(version, timestamp, origin, remote, changeset, reciprocal)
                VALUES(?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            entry.version.column, entry.originTimestamp.column, entry.originFile.column, entry.remoteVersion.column,
            Data(entry.changeset), entry.reciprocal.map { Data($0) },
        ])
    }

    func replaceAll(with entries: [HistoryEntry]) throws {
        try database.execute(sql: "DELETE FROM history; DELETE FROM acknowledged")
        for entry in entries { try insert(entry) }
    }

    /// Replaces the changesets of local writes by what merges have left of them.
    func setReciprocals(_ reciprocals: [(version: ClientVersion, changeset: [UInt8])]) throws {
        guard !reciprocals.isEmpty else { return }
        let update = try database.cachedStatement(sql: "UPDATE history SET reciprocal = ? WHERE version = ?")
        for reciprocal in reciprocals {
            try update.execute(arguments: [Data(reciprocal.changeset), reciprocal.version.column])
        }
    }

    /// Deletes the entries before the first write that a download may still have to be merged with (docs/merge.md,
    /// "Trimming").
    func trim(upTo version: ClientVersion) throws {
        let first = try database.cachedStatement(
            sql: """
                SELECT version FROM history WHERE version > ? AND origin = 0 AND length(changeset) > 0
                ORDER BY version LIMIT 1
                """)
        let kept = try Int64.fetchOne(first, arguments: [version.column]) ?? .max
        try keepAcknowledged(before: kept)
        try database.cachedStatement(sql: "DELETE FROM history WHERE version < ?").execute(arguments: [kept])
    }

    /// Bytes of acknowledged writes that are kept of a realm.
    static let keptAcknowledged = 4 << 20

    /// Keeps the local writes that are about to leave the history, the newest `keptAcknowledged` bytes of them. Each row has the
    /// bytes of all that came before it, so that what is too old is found without adding them up.
    private func keepAcknowledged(before kept: Int64) throws {
        let newest = try database.cachedStatement(sql: "SELECT total FROM acknowledged ORDER BY version DESC LIMIT 1")
        var total = try Int64.fetchOne(newest) ?? 0
        let leaving = try HistoryEntry.fetchCursor(
            database.cachedStatement(
                sql: """
                    \(HistoryEntry.select) WHERE version < ? AND origin = 0 AND length(changeset) > 0 ORDER BY version
                    """), arguments: [kept])
        let insert = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO acknowledged(version, timestamp, remote, changeset, total)
                VALUES(?, ?, ?, ?, ?)
                """)
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
            .execute(arguments: [total - Int64(Self.keptAcknowledged)])
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
