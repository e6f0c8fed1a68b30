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
            kind: .delete, originalPath: url.path, userID: userID, file: core.sync.identity)
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
        guard let wanted = action.file, let sync = try RealmFile.syncIfReadable(at: file) else { return true }
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
        // Do not open a file that is no SQLite database: SQLite would remove its log.
        if try RealmFileSet.isDatabase(file) {
            do {
                try copyDatabase(file, to: partial)
            } catch {
                guard RealmFile.isDamage(error) else { throw error }
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
        defer { try? database.close() }
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [partial.path]) }
    }

    /// What SQLite cannot read is kept byte for byte, its log too: something may still be got out of them.
    private static func copyBytes(of file: URL, to partial: URL, _ backup: String) throws {
        try RealmFileSet.remove(partial)
        try FileManager.default.copyItem(at: file, to: partial)
        let log = URL(fileURLWithPath: file.path + "-wal")
        guard FileManager.default.fileExists(atPath: log.path) else { return }
        let copy = URL(fileURLWithPath: backup + "-wal")
        try RealmFileSet.remove(copy)
        try FileManager.default.copyItem(at: log, to: copy)
    }
}
