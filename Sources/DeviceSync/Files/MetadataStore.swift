internal import Foundation
internal import GRDB
internal import Synchronization

/// `sync_metadata.realm`: users, tokens, file actions and reset outcomes of one app.
///
/// One SQLite file in WAL mode with synchronous=FULL: crash safe, and safe to share between processes. It holds
/// tokens, so it is created with mode 0600 in a folder of mode 0700. It is opened by the first call that can: while the
/// disk is full or the process has no file descriptors left, every call throws. Only a file whose contents are damaged
/// is replaced by an empty one; users then log in again.
final class MetadataStore: Sendable {
    private let opened = Mutex<DatabaseQueue?>(nil)
    private let file: URL

    init(file: URL) { self.file = file }

    private var database: DatabaseQueue {
        get throws {
            try opened.withLock { opened in
                if let opened { return opened }
                try FileLayout.makeFolder(file.deletingLastPathComponent())
                if Self.isForeign(file) { try Self.setAside(file) }
                let database: DatabaseQueue
                do {
                    database = try Self.open(file)
                } catch {
                    guard FileFailure.isDamage(error) else { throw error }
                    try Self.setAside(file)
                    database = try Self.open(file)
                }
                opened = database
                return database
            }
        }
    }

    /// Whether the file has contents and is no database. A file that cannot be read is left to `open`, which says why.
    private static func isForeign(_ file: URL) -> Bool {
        let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
        return (size ?? 0) > 0 && (try? RealmFileSet.isPlainDatabase(file)) == false
    }

    /// Kept with its log, under a name that no file has: something may still be got out of them.
    private static func setAside(_ file: URL) throws {
        let manager = FileManager.default
        var damaged = file.path + ".damaged"
        var number = 1
        while manager.fileExists(atPath: damaged) || manager.fileExists(atPath: damaged + "-wal") {
            number += 1
            damaged = file.path + ".damaged-\(number)"
        }
        // The log first: a log that is left behind by its file would never be found.
        for suffix in ["-wal", ""] where manager.fileExists(atPath: file.path + suffix) {
            try manager.moveItem(atPath: file.path + suffix, toPath: damaged + suffix)
        }
        try RealmFileSet.remove(URL(fileURLWithPath: file.path + "-shm"))
    }

    private static func open(_ file: URL) throws -> DatabaseQueue {
        let database = try DatabaseQueue.durable(file)
        try database.write { database in
            try database.execute(sql: schema)
            let columns = try database.columns(in: "file_actions").map(\.name)
            for (column, type) in [("ident", "INTEGER"), ("salt", "INTEGER"), ("encryption_salt", "BLOB")]
            where !columns.contains(column) {
                try database.execute(sql: "ALTER TABLE file_actions ADD COLUMN \(column) \(type)")
            }
            // Read everything, so that damage shows now.
            for table in ["users", "current_user", "user_files", "file_actions", "outcomes"] {
                _ = try Row.fetchAll(database, sql: "SELECT * FROM \(table)")
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return database
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS users(
            id TEXT PRIMARY KEY, state INTEGER NOT NULL, device TEXT NOT NULL, access TEXT NOT NULL,
            refresh TEXT NOT NULL, profile TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS current_user(one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS user_files(user TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY(user, path));
        CREATE TABLE IF NOT EXISTS file_actions(
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, original TEXT NOT NULL, backup TEXT, user TEXT NOT NULL,
            attempt TEXT);
        CREATE TABLE IF NOT EXISTS outcomes(
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, attempt TEXT NOT NULL, user TEXT NOT NULL, body TEXT NOT NULL,
            sent INTEGER NOT NULL DEFAULT 0);
        """

    // MARK: Users

    func users() throws -> [UserRecord] {
        try database.read { try UserRecord.order(Column.rowID).fetchAll($0) }
    }

    func currentUserID() throws -> String? {
        try database.read { try String.fetchOne($0, sql: "SELECT id FROM current_user") }
    }

    func save(_ user: UserRecord, makeCurrent: Bool = false) throws {
        try database.write { database in
            // Another process may have changed the schema since it was read.
            database.clearSchemaCache()
            try user.save(database)
            if makeCurrent { try Self.setCurrent(user.id, database) }
        }
    }

    func setCurrentUser(_ id: String?) throws { try database.write { try Self.setCurrent(id, $0) } }

    private static func setCurrent(_ id: String?, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM current_user")
        if let id { try database.execute(sql: "INSERT INTO current_user VALUES(1, ?)", arguments: [id]) }
    }

    /// The realms that users opened.
    func files() throws -> [(user: String, path: String)] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT user, path FROM user_files").map { ($0["user"], $0["path"]) }
        }
    }

    func removeUser(_ id: String) throws {
        try database.write { database in
            for table in ["users WHERE id", "user_files WHERE user", "current_user WHERE id"] {
                try database.execute(sql: "DELETE FROM \(table) = ?", arguments: [id])
            }
        }
    }

    func addFile(_ path: String, user: String) throws {
        try database.write {
            try $0.execute(sql: "INSERT OR IGNORE INTO user_files VALUES(?, ?)", arguments: [user, path])
        }
    }

    // MARK: File actions

    func addFileAction(_ action: FileAction) throws {
        try database.write { database in
            try FileAction.filter(Column("original") == action.originalPath).deleteAll(database)
            try action.save(database)
        }
    }

    func fileActions() throws -> [FileAction] {
        try database.read { try FileAction.order(Column.rowID).fetchAll($0) }
    }

    func fileAction(id: String) throws -> FileAction? { try database.read { try FileAction.fetchOne($0, key: id) } }

    func removeFileAction(id: String) throws { _ = try database.write { try FileAction.deleteOne($0, key: id) } }

    /// Drops the actions of a realm that an earlier reset or deletion left behind.
    func removeFileActions(path: String) throws {
        _ = try database.write { try FileAction.filter(Column("original") == path).deleteAll($0) }
    }

    // MARK: Reset outcomes

    /// The oldest reports are dropped beyond this many, so that an app that never gets online stays small.
    private static let maxOutcomes = 1000

    func addOutcome(_ outcome: ResetOutcome, user: String) throws {
        let body = String(decoding: try outcome.json(), as: UTF8.self)
        try database.write { database in
            try database.execute(
                sql: "INSERT INTO outcomes(attempt, user, body) VALUES(?, ?, ?)",
                arguments: [outcome.attempt, user, body])
            try database.execute(
                sql: """
                    DELETE FROM outcomes WHERE sequence <= (SELECT MAX(sequence) FROM outcomes) - ?
                    """, arguments: [Self.maxOutcomes])
        }
    }

    /// The newest report of an attempt, sent or not.
    func outcome(attempt: String) throws -> ResetOutcome? {
        try database.read {
            try Data.fetchOne(
                $0, sql: "SELECT body FROM outcomes WHERE attempt = ? ORDER BY sequence DESC LIMIT 1",
                arguments: [attempt])
        }.map(ResetOutcome.init(json:))
    }

    func unsentOutcomes() throws -> [(sequence: Int64, user: String, body: Data)] {
        try database.read { database in
            try Row.fetchAll(
                database, sql: "SELECT sequence, user, body FROM outcomes WHERE sent = 0 ORDER BY sequence LIMIT 20"
            ).map { ($0["sequence"], $0["user"], $0["body"]) }
        }
    }

    func markOutcomeSent(_ sequence: Int64) throws {
        try database.write {
            try $0.execute(sql: "UPDATE outcomes SET sent = 1 WHERE sequence = ?", arguments: [sequence])
            // A sent report is kept while a file action may still add to its attempt.
            try $0.execute(
                sql: """
                    DELETE FROM outcomes WHERE sent = 1 AND attempt NOT IN
                    (SELECT attempt FROM file_actions WHERE attempt IS NOT NULL)
                    """)
        }
    }

    func close() throws {
        try opened.withLock { opened in
            try opened?.close()
            opened = nil
        }
    }
}
