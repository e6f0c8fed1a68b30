internal import Foundation
internal import GRDB
import SyncModel
internal import SyncProtocol

/// The data of a subscription set that came in several batches, kept in the file until the last one is here.
struct PendingBootstrap: Sendable, Equatable, Codable {
    var version: QueryVersion
    /// How many batches are stored.
    var batches: Int
    /// The last batch's; nil until it is stored.
    var progress: SyncProgress?
}

/// The bootstrap that is not yet in the realm: its batches, until the last one is here.
struct BootstrapRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS bootstrap_entries(
            position INTEGER PRIMARY KEY, batch INTEGER NOT NULL, server_version INTEGER NOT NULL,
            client_version INTEGER NOT NULL, timestamp INTEGER NOT NULL, origin INTEGER NOT NULL, changeset BLOB NOT NULL);
        CREATE INDEX IF NOT EXISTS bootstrap_batches ON bootstrap_entries(batch);
        """

    private static let name = "bootstrap"
    private let database: Database

    init(_ database: Database) { self.database = database }

    func pending() throws -> PendingBootstrap? { try database.meta(Self.name, as: PendingBootstrap.self) }

    /// Stores a bootstrap's next batch. What is stored of another bootstrap goes with the first one.
    /// - Parameter bootstrap: as it is with that batch.
    func store(_ entries: [SyncModel.HistoryEntry], of bootstrap: PendingBootstrap) throws {
        if bootstrap.batches == 1 { try discard() }
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO bootstrap_entries(batch, server_version, client_version, timestamp, origin, changeset)
                VALUES(?, ?, ?, ?, ?, ?)
                """)
        for entry in entries {
            try insert.execute(arguments: [
                bootstrap.batches - 1, entry.serverVersion.column, entry.clientVersion.column,
                entry.timestamp.column, entry.originFile.column, Data(entry.changeset),
            ])
        }
        try database.setMeta(Self.name, encoding: bootstrap)
    }

    /// The entries of one batch, in order.
    func entries(batch: Int) throws -> [SyncModel.HistoryEntry] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT server_version, client_version, timestamp, origin, changeset FROM bootstrap_entries
                WHERE batch = ? ORDER BY position
                """, arguments: [batch])
        return rows.map { row in
            SyncModel.HistoryEntry(
                serverVersion: ServerVersion(column: row[0]), clientVersion: ClientVersion(column: row[1]),
                originFile: FileIdent(column: row[3]), timestamp: SyncTimestamp(column: row[2]),
                changeset: [UInt8](row[4] as Data))
        }
    }

    func discard() throws {
        try database.execute(sql: "DELETE FROM bootstrap_entries")
        try database.setMeta(Self.name, nil)
    }
}
