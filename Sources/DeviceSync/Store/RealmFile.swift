internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel
internal import Synchronization

/// One realm in one SQLite database: schema, objects, sync history, cursors.
///
/// Commits go through one connection. Objects are read through others, each of which shows one version (`FileVersion`).
/// Everything else is read and written as rows of one kind (`HistoryRows`, `BootstrapRows` ...) within `read` and `write`.
///
/// WAL with synchronous=FULL: a commit that was acknowledged must not be lost in a power failure, because it may
/// already have been uploaded; the server would then refuse the realm as one restored from a backup.
final class RealmFile: Sendable {
    let url: URL?
    /// Nil for a file that is not encrypted.
    let encryption: FileEncryption?
    let readers: FileReaders
    private let database: DatabaseQueue
    /// The properties of which commits keep index rows; known once the file is loaded.
    private let indexes = Mutex(IndexedProperties())
    /// The mark that keeps the file noted as open until `database` is closed.
    private let openMark: Mutex<OpenFiles.Mark?>

    /// - Parameters:
    ///   - url: nil for a realm in memory.
    ///   - exclusion: the code of the error if another process has the file; nil to let others have it too.
    ///   - key: nil for a file that is not encrypted.
    init(
        url: URL?, readOnly: Bool = false, exclusion: Realm.Error.Code? = nil, key: EncryptionKey? = nil
    ) throws {
        self.url = url
        openMark = Mutex(try url.map { try OpenFiles.Mark($0, exclusion: exclusion) })
        encryption = try url.flatMap { try FileEncryption.of($0, key) }
        readers = FileReaders(url, encryption)
        do {
            database = try Self.open(url, readOnly: readOnly, encryption)
        } catch {
            throw FileFailure.named(error, url)
        }
    }

    private static func open(_ url: URL?, readOnly: Bool, _ encryption: FileEncryption?) throws -> DatabaseQueue {
        let database =
            try url.map { try DatabaseQueue.durable($0, readOnly: readOnly, encryption: encryption) } ?? DatabaseQueue()
        if !readOnly {
            try database.write { database in
                try database.execute(sql: tables)
                try FileForm(database).bringUpToDate()
            }
        }
        return database
    }

    private static let tables = """
        CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        \(ObjectRows.tables)
        \(HistoryRows.tables)
        \(ResetRows.tables)
        \(SubscriptionRows.tables)
        \(BootstrapRows.tables)
        """

    // MARK: Reading

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result { try database.read(body) }

    /// What the file has now. A realm in memory has nothing, and keeps its objects to itself.
    func load() throws -> FileContents {
        do {
            guard url != nil else { return try read { try FileContents($0, on: nil) } }
            let reader = try readers.begin()
            // The connection is given back with it.
            let version = FileVersion(self, reader)
            return try reader.unsafeRead { database in
                guard try FileForm(database).isOrdered else { return try FileContents(database, on: nil) }
                let found = try IndexedProperties.stored(in: database)
                indexes.withLock { $0 = found }
                return try FileContents(database, on: version)
            }
        } catch {
            throw FileFailure.named(error, url)
        }
    }

    /// Puts a state on the newest version of the file, so that it need not hold what has changed since the version that it stands on.
    /// - Returns: nil if the file has another version by now.
    func settled(_ state: RealmState, _ version: ClientVersion) throws -> RealmState? {
        guard let base = state.base as? FileVersion, let reader = try readers.begin(at: version) else { return nil }
        return state.standing(on: FileVersion(self, reader, after: base, with: state))
    }

    // MARK: Writing

    /// - Parameter base: the version that the commit was made from.
    /// - Throws: `Realm.Error`; its code is `incompatibleLockFile` if the file has another version by now.
    func write(_ commit: FileCommit, over base: ClientVersion? = nil) throws {
        try write { database in
            if let base, try database.realmVersion() != base {
                throw Realm.Error(
                    .incompatibleLockFile,
                    "another process has written the realm since it was opened; close it and open it again",
                    fileURL: url)
            }
            try commit.write(to: database, indexes: url == nil ? nil : indexes.withLock { $0 })
        }
    }

    /// - Throws: `Realm.Error`, as a commit does.
    func write(_ body: (Database) throws -> Void) throws {
        do {
            try database.write(body)
        } catch let error as DatabaseError {
            throw FileFailure.named(error, url)
        }
    }

    /// Whether properties are declared as indexed that have no index yet. A realm in memory needs none.
    func lacksIndexes(_ declared: [ObjectSchemaDescription], _ schema: StoredSchema) -> Bool {
        url != nil && !indexes.withLock { $0 }.missing(from: declared, in: schema).isEmpty
    }

    /// Indexes properties that are declared so, in one transaction; with the write lock held.
    func addIndexes(_ declared: [ObjectSchemaDescription], _ schema: StoredSchema) throws {
        var indexes = indexes.withLock { $0 }
        try write { database in
            let rows = ObjectRows(database)
            for (table, columns) in indexes.missing(from: declared, in: schema) {
                try rows.derive(of: table, links: false, columns: columns)
                for column in columns { indexes.insert(column.id, of: table.id) }
            }
            try indexes.store(in: database)
        }
        self.indexes.withLock { $0 = indexes }
    }

    /// Moves what is in the write-ahead log into the database, as far as no version needs the database as it is.
    /// - Returns: whether that is all of it.
    func checkpoint() throws -> Bool {
        try database.writeWithoutTransaction { database in
            let result = try database.checkpoint(.passive)
            return result.walFrameCount == result.checkpointedFrameCount
        }
    }

    // MARK: Closing

    /// Closes the file. Objects of it that are not in memory cannot be read any more.
    func close() throws {
        readers.close()
        try database.close()
        openMark.withLock { $0 = nil }
    }

    /// Leaves everything in the one file, which may then be moved. Closing alone may leave some of it in the log, and
    /// does not say so.
    func closeWithoutLog() throws {
        do {
            try database.writeWithoutTransaction { database in
                guard try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                    throw Realm.Error(.fileOperationFailed, "the write-ahead log stays beside the file", fileURL: url)
                }
            }
            try close()
        } catch let error as DatabaseError {
            throw FileFailure.named(error, url)
        }
    }

    deinit {
        readers.close()
        // Close the database before the mark goes with this object. Closing a closed database does nothing.
        try? database.close()
    }
}
