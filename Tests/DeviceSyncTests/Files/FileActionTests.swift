import Foundation
import GRDB
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Backing up and deleting what a manual client reset leaves behind.
struct FileActionTests {
    private func action(_ folder: Folder) throws -> FileAction {
        FileAction(
            id: "1", kind: .backUpThenDelete, originalPath: folder.file.path,
            backupPath: folder.url.appendingPathComponent("backup").path, userID: "user", attempt: nil)
    }

    private func write(_ folder: Folder) throws {
        let realm = try Realm(configuration: folder.configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "kept"]) }
    }

    private func titles(_ path: String) throws -> [String: String?] {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
        configuration.readOnly = true
        return try Realm(configuration: configuration).titles()
    }

    /// Nobody else can use the file until what is returned is closed.
    private func lockedOut(_ file: URL) throws -> DatabaseQueue {
        let database = try DatabaseQueue(path: file.path)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE mine(x)")
        }
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: file.path).read { try Table("meta").fetchCount($0) }
        }
        return database
    }

    /// SQLite holds such a lock while it closes a database, for one.
    @Test func aFileThatIsLockedForAWhileIsBackedUpWhole() throws {
        let folder = Folder()
        let action = try action(folder)
        try write(folder)
        let other = try lockedOut(folder.file)
        // On a thread of its own: the tests' tasks may all be waiting for one that waits for this file.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.3)
            try? other.close()
        }
        try FileActionRunner.run(action)
        try expectEqual(titles(#require(action.backupPath)), ["a": "kept"])
    }

    @Test func aFileThatCannotBeBackedUpNowIsKept() throws {
        let folder = Folder()
        var action = try action(folder)
        try write(folder)
        // Not a folder, so nothing can be put into it.
        let blocked = folder.url.appendingPathComponent("blocked")
        expectTrue(FileManager.default.createFile(atPath: blocked.path, contents: Data()))
        action.backupPath = blocked.appendingPathComponent("backup").path
        #expect(throws: (any Error).self) { try FileActionRunner.run(action) }
        try expectEqual(titles(action.originalPath), ["a": "kept"])
    }

    @Test func aDamagedFileIsKeptByteForByteWithItsLog() throws {
        let folder = Folder()
        let action = try action(folder)
        let path = action.originalPath
        try FileLayout.makeFolder(folder.url)
        let damaged = Data("this is no database, whatever it was before".utf8)
        expectTrue(FileManager.default.createFile(atPath: path, contents: damaged))
        expectTrue(FileManager.default.createFile(atPath: path + "-wal", contents: Data("log".utf8)))
        try FileActionRunner.run(action)
        let backup = try #require(action.backupPath)
        expectEqual(FileManager.default.contents(atPath: backup), damaged)
        expectEqual(FileManager.default.contents(atPath: backup + "-wal"), Data("log".utf8))
        expectTrue(!FileManager.default.fileExists(atPath: path))
    }

    /// The file's header is right, and nothing else.
    @Test func aDatabaseThatIsNoneAfterItsHeaderIsKeptByteForByte() throws {
        let folder = Folder()
        var action = try action(folder)
        action.file = ClientFileIdent(ident: 2, salt: 3)
        try FileLayout.makeFolder(folder.url)
        var damaged = Data("SQLite format 3\0".utf8)
        damaged.append(Data(repeating: 7, count: 5000))
        expectTrue(FileManager.default.createFile(atPath: action.originalPath, contents: damaged))
        try expectTrue(FileActionRunner.run(action))
        expectEqual(FileManager.default.contents(atPath: try #require(action.backupPath)), damaged)
        expectTrue(!FileManager.default.fileExists(atPath: action.originalPath))
    }

    /// What it knows of its server says nothing; the rest of it is still to be had.
    @Test func aRealmThatNoLongerSaysWhoseItIsIsBackedUp() throws {
        let folder = Folder()
        var action = try action(folder)
        action.file = ClientFileIdent(ident: 2, salt: 3)
        try write(folder)
        try RealmFileEdits.run(
            "INSERT OR REPLACE INTO meta VALUES('sync', CAST('no JSON' AS BLOB))", at: action.originalPath)
        try expectTrue(FileActionRunner.run(action))
        expectTrue(FileManager.default.fileExists(atPath: try #require(action.backupPath)))
        expectTrue(!FileManager.default.fileExists(atPath: action.originalPath))
    }

    /// Two cores of one file would each overwrite what the other wrote.
    @Test func aFileBehindASymbolicLinkIsOneFileAlsoBeforeItIsMade() throws {
        let folder = Folder()
        try FileLayout.makeFolder(folder.url.appendingPathComponent("real"))
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: folder.url.appendingPathComponent("real"))
        var configuration = folder.configuration
        configuration.fileURL = link.appendingPathComponent("sub/a.realm")
        let first = try Realm(configuration: configuration)
        let second = try Realm(configuration: configuration)
        configuration.fileURL = folder.url.appendingPathComponent("real/sub/a.realm")
        let third = try Realm(configuration: configuration)
        expectTrue(first.instance.core === second.instance.core && second.instance.core === third.instance.core)
        let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
        expectEqual(error?.code, .alreadyOpen)
    }

    @Test func aFileIsOpenUntilItsDatabaseIsClosed() throws {
        let folder = Folder()
        let url = folder.file
        let first = try RealmFile(url: url)
        var second: RealmFile? = try RealmFile(url: url)
        try first.close()
        expectTrue(OpenFiles.contains(url))
        _ = second
        second = nil
        expectTrue(!OpenFiles.contains(url))
        try first.close()
        expectTrue(!OpenFiles.contains(url))
    }
}
