internal import Foundation
internal import GRDB
internal import Logging
import SyncModel

extension AppCore {
    /// Backs up or deletes what an earlier run left to this launch, and the files of removed users.
    func runFileActionsAtLaunch() {
        for action in (try? store.fileActions()) ?? [] {
            let pending = PendingFileAction(app: self, id: action.id, path: action.originalPath)
            pending.logging { if try !pending.attempt(.manualAtLaunch) { throw pending.stillOpen() } }
        }
        forgetRemovedUsers()
    }

    /// Registers that a realm's file goes at the next launch, or when the app says so.
    func deletionError(_ error: SyncError, _ core: RealmCore, userID: String) -> SyncError {
        guard let url = core.url else { return error }
        let action = FileAction(
            kind: .delete, originalPath: url.path, userID: userID, file: core.sync.identity,
            salt: core.file.encryption?.cipher.header.salt)
        do {
            try store.addFileAction(action)
        } catch {
            logger.error("cannot register a file action", metadata: ["error": "\(error)"])
        }
        return SyncError(
            error.code, error.message, name: error.serverErrorName, wireCode: error.wireCode,
            actionToken: SyncError.ActionToken(core: AppReference(self), originalPath: url.path, actionID: action.id))
    }
}

enum FileActionRunner {
    /// - Returns: false if another realm has taken the place of the one that the action is for.
    @discardableResult
    static func run(_ action: FileAction) throws -> Bool {
        let files = RealmFileSet(main: URL(fileURLWithPath: action.originalPath))
        guard files.exists else { return true }
        guard try concerns(action, files.main) else { return false }
        if action.kind == .backUpThenDelete, let backup = action.backupPath { try backUp(files.main, to: backup) }
        try files.delete()
        return true
    }

    /// Whether the file is still the realm that the action is for. A damaged file is: a realm made since could be read.
    private static func concerns(_ action: FileAction, _ file: URL) throws -> Bool {
        // Nobody knows the key now. A file that is made anew gets another salt.
        if let header = try EncryptedHeader.ofClosed(file) {
            return action.salt.map { $0 == header.salt } ?? (action.file == nil)
        }
        guard action.salt == nil else { return try !RealmFileSet.isPlainDatabase(file) }
        guard let wanted = action.file, let sync = try SyncFileState.readable(at: file) else { return true }
        return sync.identity == wanted
    }

    /// Never overwrites: an existing backup is one that an interrupted run made.
    private static func backUp(_ file: URL, to backup: String) throws {
        guard !FileManager.default.fileExists(atPath: backup) else { return }
        let target = URL(fileURLWithPath: backup)
        try FileLayout.makeFolder(target.deletingLastPathComponent())
        // Under another name until complete, so that a crash cannot leave half a backup under the promised one.
        let partial = URL(fileURLWithPath: backup + ".partial")
        try RealmFileSet.remove(partial)
        // Do not open a file that is no SQLite database: SQLite would remove its log. One that is encrypted stays so.
        if try RealmFileSet.isPlainDatabase(file) {
            do {
                try copyDatabase(file, to: partial)
            } catch {
                guard FileFailure.isDamage(error) else { throw error }
                try copyBytes(of: file, to: partial, backup)
            }
        } else {
            try copyBytes(of: file, to: partial, backup)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: partial.path)
        try FileManager.default.moveItem(at: partial, to: target)
    }

    /// A copy through SQLite has what is still in the write-ahead log. An error that may pass, such as a full disk,
    /// is thrown: the app is not to lose its backup for it.
    static func copyDatabase(_ file: URL, to partial: URL) throws {
        let database = try DatabaseQueue(path: file.path, configuration: .waiting(60))
        try copy(database, to: partial.path)
    }

    /// The same for an encrypted file. The copy has the same key, and a salt of its own.
    static func copyDatabase(_ file: URL, to partial: URL, _ encryption: FileEncryption, isImmutable: Bool) throws {
        let database = try DatabaseQueue(
            path: encryption.name(of: file, isImmutable: isImmutable), configuration: .waiting(60).with(encryption))
        let target = FileEncryption.new(encryption.key)
        try withExtendedLifetime(target) { try copy(database, to: target.name(of: partial)) }
    }

    private static func copy(_ database: DatabaseQueue, to name: String) throws {
        defer { try? database.close() }
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [name]) }
    }

    /// What SQLite cannot read, or not without a key, is kept byte for byte, its log too: something may still be got out of them.
    private static func copyBytes(of file: URL, to partial: URL, _ backup: String) throws {
        try RealmFileSet.remove(partial)
        try FileManager.default.copyItem(at: file, to: partial)
        for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: file.path + suffix) {
            let copy = URL(fileURLWithPath: backup + suffix)
            try RealmFileSet.remove(copy)
            try FileManager.default.copyItem(at: URL(fileURLWithPath: file.path + suffix), to: copy)
        }
    }
}
