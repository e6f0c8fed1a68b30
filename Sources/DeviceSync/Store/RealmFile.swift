internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel
internal import Synchronization

/// One realm in one SQLite database: schema, objects, sync history, cursors.
///
/// Commits go through one connection. Objects are read through others, each of which shows one version (`FileVersion`).
///
/// WAL with synchronous=FULL: a commit that was acknowledged must not be lost in a power failure, because it may
/// already have been uploaded; the server would then refuse the realm as one restored from a backup.
final class RealmFile: Sendable {
    let database: DatabaseQueue
    let url: URL?
    /// Nil for a file that is not encrypted.
    let encryption: FileEncryption?
    let readers: FileReaders
    /// The properties of which commits keep index rows; known once the file is loaded.
    let indexes = Mutex(IndexedProperties())
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
            throw Self.translate(error, url)
        }
    }

    private static func open(_ url: URL?, readOnly: Bool, _ encryption: FileEncryption?) throws -> DatabaseQueue {
        let database =
            try url.map { try DatabaseQueue.durable($0, readOnly: readOnly, encryption: encryption) } ?? DatabaseQueue()
        if !readOnly {
            try database.write { database in
                try database.execute(sql: schema)
                try bringToForm(database)
            }
        }
        return database
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        \(objectSchema)
        CREATE TABLE IF NOT EXISTS history(
            version INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, origin INTEGER NOT NULL, remote INTEGER NOT NULL,
            changeset BLOB NOT NULL, reciprocal BLOB);
        CREATE TABLE IF NOT EXISTS acknowledged(
            version INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, remote INTEGER NOT NULL, changeset BLOB NOT NULL,
            total INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS client_reset_metadata(
            core_version TEXT NOT NULL, time INTEGER NOT NULL, mode INTEGER NOT NULL, action INTEGER NOT NULL,
            error_code INTEGER NOT NULL, error_msg TEXT NOT NULL, attempt TEXT NOT NULL,
            cut_off INTEGER NOT NULL);
        \(subscriptionSchema)
        \(bootstrapSchema)
        """

    /// Why something could not be read or written, as the app hears of it.
    func translate(_ error: any Error) -> Realm.Error { Self.translate(error, url) }

    private static func translate(_ error: any Error, _ url: URL?) -> Realm.Error {
        if let error = error as? Realm.Error { return error }
        guard let error = error as? DatabaseError else {
            return Realm.Error(.invalidDatabase, "the realm's file cannot be read: \(error)", fileURL: url)
        }
        let code: Realm.Error.Code
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return Realm.Error(
                .invalidDatabase,
                "the realm's file \(url?.path ?? "in memory") is damaged, or is no realm: \(error.message ?? "it cannot be read"). Put a "
                    + "copy of it in its place, or delete it with Realm.deleteFiles(for:)", fileURL: url)
        case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: code = .filePermissionDenied
        case .SQLITE_FULL: code = .outOfDiskSpace
        default: code = .fileAccess
        }
        let message = "the realm's file cannot be used: \(error.message ?? "SQLite \(error.resultCode)")"
        return UnwritableFolder.named(Realm.Error(code, message, fileURL: url))
    }

    // MARK: Loading

    struct Contents {
        var snapshot: RealmSnapshot
        /// The sync state; its rules are those of the snapshot's state.
        var sync: SyncFileState
        var subscriptions: SubscriptionSets
        /// The timestamp of the newest local entry.
        var lastTimestamp: SyncTimestamp
        /// Nil if none was ever declared.
        var schemaVersion: UInt64?
    }

    /// What the file has now; of its objects only where they are. A realm in memory has nothing, and keeps its objects to itself.
    func load() throws -> Contents {
        do {
            guard url != nil else { return try database.read { try Self.load($0, on: nil) } }
            let reader = try readers.begin()
            // The connection is given back with it.
            let version = FileVersion(self, reader)
            return try reader.unsafeRead { database in
                guard try Self.isOrdered(database) else { return try Self.load(database, on: nil) }
                let found = try Self.indexedProperties(database)
                indexes.withLock { $0 = found }
                return try Self.load(database, on: version)
            }
        } catch {
            throw translate(error)
        }
    }

    private static func load(_ database: Database, on version: FileVersion?) throws -> Contents {
        let sync = try database.meta("sync", as: SyncFileState.self) ?? SyncFileState()
        var state = RealmState(
            schema: try storedSchema(database), compatibility: sync.rules, indexingIncomingLinks: true, base: version)
        if try !isOrdered(database) { try load(unordered: database, into: &state) }
        let timestamp = try Int64.fetchOne(database, sql: "SELECT MAX(timestamp) FROM history WHERE origin = 0")
        return Contents(
            snapshot: RealmSnapshot(state: state, version: try Self.version(database)), sync: sync,
            subscriptions: try subscriptions(database), lastTimestamp: SyncTimestamp(column: timestamp ?? 0),
            schemaVersion: try database.number("schema_version"))
    }

    static func storedSchema(_ database: Database) throws -> StoredSchema {
        try database.meta("schema").map { try StoredSchema(decoding: [UInt8]($0)) } ?? StoredSchema()
    }

    static func version(_ database: Database) throws -> ClientVersion {
        ClientVersion(try database.number("version") ?? 1)
    }

    /// What a closed file knows of its server.
    static func storedSync(at url: URL) throws -> SyncFileState {
        let database = try DatabaseQueue(path: url.path, configuration: .waiting(10))
        defer { try? database.close() }
        let sync = try database.read { try $0.tableExists("meta") ? $0.meta("sync", as: SyncFileState.self) : nil }
        return sync ?? SyncFileState()
    }

    // MARK: Committing

    /// Everything that one commit changes; written in one SQLite transaction.
    struct Commit {
        var version: ClientVersion
        var schema: StoredSchema?
        /// The version that the app gives its schema.
        var schemaVersion: UInt64?
        var changes: StateChanges?
        /// The classes as they are after the changes.
        var classes = StoredSchema()
        /// The whole of a state, for a file that has nothing.
        var copied: RealmState?
        var entry: HistoryEntry?
        var sync: SyncFileState?
        var subscriptions: SubscriptionChange?
        /// The stored bootstrap is in the realm now.
        var endsBootstrap = false
        var reciprocals: [(version: ClientVersion, changeset: [UInt8])] = []
        /// Forget entries that no download can have to be merged with any more.
        var trimsHistory = false
        /// Replace the whole history (docs/resets.md, "History afterwards").
        var history: [HistoryEntry]?
        var pendingReset: PendingResetChange = .keep
        /// A report on the client reset that this commit finishes.
        var resetOutcome: ResetOutcome?

        init(version: ClientVersion) { self.version = version }

        /// A version that takes over what has changed in `state`.
        init(version: ClientVersion, taking state: inout RealmState) {
            self.version = version
            let taken = state.takeChanges()
            if taken.schemaChanged { schema = state.schema }
            changes = taken
            classes = state.schema
        }

        /// The bytes, about, that the commit adds to the write-ahead log: each object is on a page of its own, as a rule.
        var logBytes: Int {
            let objects = (changes?.upserted.count ?? 0) + (changes?.erased.count ?? 0)
            let rewritten = reciprocals.reduce(0) { $0 + $1.changeset.count }
            return 16 << 10 + objects * 4 << 10 + (entry?.changeset.count ?? 0) + rewritten
        }
    }

    enum PendingResetChange {
        case keep, clear
        case set(PendingReset)
    }

    /// - Parameter base: the version that the commit was made from.
    /// - Throws: `Realm.Error`; its code is `incompatibleLockFile` if the file has another version by now.
    func write(_ commit: Commit, over base: ClientVersion? = nil) throws {
        try write { database in
            if let base, try Self.version(database) != base {
                throw Realm.Error(
                    .incompatibleLockFile,
                    "another process has written the realm since it was opened; close it and open it again",
                    fileURL: url)
            }
            try write(commit, database)
        }
    }

    private func write(_ commit: Commit, _ database: Database) throws {
        if let changes = commit.changes, url != nil {
            try Self.write(changes, commit.classes, indexes.withLock { $0 }, database)
        }
        if let copied = commit.copied { try Self.write(all: copied, database) }
        if let schema = commit.schema { try database.setMeta("schema", Data(schema.encoded())) }
        if let version = commit.schemaVersion { try database.setNumber("schema_version", version) }
        try database.setNumber("version", commit.version.rawValue)
        if let history = commit.history {
            try database.execute(sql: "DELETE FROM history; DELETE FROM acknowledged")
            for entry in history { try Self.insert(entry, database) }
        }
        if !commit.reciprocals.isEmpty {
            let update = try database.cachedStatement(sql: "UPDATE history SET reciprocal = ? WHERE version = ?")
            for reciprocal in commit.reciprocals {
                try update.execute(arguments: [Data(reciprocal.changeset), reciprocal.version.column])
            }
        }
        if let entry = commit.entry { try Self.insert(entry, database) }
        if let sync = commit.sync {
            try database.setMeta("sync", encoding: sync)
            if commit.trimsHistory { try Self.trim(upTo: sync.progress.download.clientVersion, database) }
        }
        if let subscriptions = commit.subscriptions { try Self.write(subscriptions, database) }
        if commit.endsBootstrap { try Self.discardBootstrap(database) }
        if let outcome = commit.resetOutcome {
            try database.setMeta(ReportName.outcome.rawValue, outcome.json())
            try database.setMeta(ReportName.attempt.rawValue, nil)
        }
        switch commit.pendingReset {
        case .keep: break
        case .clear: try PendingReset.deleteAll(database)
        case .set(let record):
            // A table of another shape, from another version, makes way.
            try database.execute(sql: "DROP TABLE IF EXISTS client_reset_metadata")
            try database.execute(sql: Self.schema)
            try record.insert(database)
        }
    }

    private static func insert(_ entry: HistoryEntry, _ database: Database) throws {
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

    /// Deletes the entries before the first write that a download may still have to be merged with (docs/merge.md,
    /// "Trimming").
    private static func trim(upTo version: ClientVersion, _ database: Database) throws {
        let first = try database.cachedStatement(
            sql: """
                SELECT version FROM history WHERE version > ? AND origin = 0 AND length(changeset) > 0
                ORDER BY version LIMIT 1
                """)
        let kept = try Int64.fetchOne(first, arguments: [version.column]) ?? .max
        try keepAcknowledged(before: kept, database)
        try database.cachedStatement(sql: "DELETE FROM history WHERE version < ?").execute(arguments: [kept])
    }

    // MARK: Client resets

    /// The record of a client reset, nil unless there is exactly one row that this version wrote and understands.
    func pendingReset() throws -> PendingReset? {
        try database.read { database in
            guard let records = try? PendingReset.fetchAll(database), records.count == 1 else { return nil }
            return records[0].coreVersion == SDK.version ? records[0] : nil
        }
    }

    /// The names under which a realm keeps reports on its client resets until they are queued.
    enum ReportName: String {
        /// The report of a reset that has ended.
        case outcome = "reset_outcome"
        /// The report that a reset was cut off, for as long as one is under way.
        case attempt = "reset_attempt"
    }

    func report(_ name: ReportName) throws -> ResetOutcome? {
        try database.read { try $0.meta(name.rawValue) }.map(ResetOutcome.init(json:))
    }

    func setReport(_ name: ReportName, _ report: ResetOutcome?) throws {
        try database.write { try $0.setMeta(name.rawValue, report?.json()) }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result { try database.read(body) }

    /// - Throws: `Realm.Error`, as a commit does.
    func write(_ body: (Database) throws -> Void) throws {
        do {
            try database.write(body)
        } catch let error as DatabaseError {
            throw translate(error)
        }
    }

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
            throw translate(error)
        }
    }

    deinit {
        readers.close()
        // Close the database before the mark goes with this object. Closing a closed database does nothing.
        try? database.close()
    }
}
