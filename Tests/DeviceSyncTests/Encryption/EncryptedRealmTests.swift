import Foundation
import GRDB
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Realms with a key, opened, copied and compacted.
@Suite(.hangGuard)
struct EncryptedRealmTests {
    @Test func noFileHasPlainTextWhileTheRealmIsOpenOrAfterwards() throws {
        let folder = Folder()
        for configuration in [folder.encrypted, folder.configuration] {
            let isEncrypted = configuration.encryptionKey != nil
            func check(_ moment: Comment) {
                expectEqual(PlainText.found(in: folder.url).isEmpty, isEncrypted, moment)
            }
            try { () throws in
                let realm = try Realm(configuration: configuration)
                try realm.writeMarkedObjects()
                check("open, with a log")
                try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "1")?["title"] = "other" }
                _ = try realm.instance.core.file.checkpoint()
                check("after a checkpoint")
            }()
            check("closed")
            var compacting = configuration
            compacting.shouldCompactOnLaunch = { _, _ in true }
            try { () throws in
                let realm = try Realm(configuration: compacting)
                expectTrue(realm.titles().count == 100 && realm.titles()["1"] == "other")
                check("compacted")
            }()
            try expectTrue(Realm.deleteFiles(for: configuration))
        }
    }

    @Test func writtenObjectsAreThereAtTheNextOpening() throws {
        let folder = Folder()
        for round in 0..<3 {
            let realm = try Realm(configuration: folder.encrypted)
            expectEqual(realm.titles().count, round)
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "\(round)"]) }
        }
    }

    // MARK: Copies

    private static let keys: [Data?] = [nil, PlainText.key, PlainText.otherKey]

    @Test(arguments: keys, keys) func aCopyHasTheKeyThatItIsGiven(from: Data?, to: Data?) throws {
        let folder = Folder()
        let target = Folder()
        var source = folder.configuration
        source.encryptionKey = from
        var copied = target.configuration
        copied.encryptionKey = to
        let realm = try Realm(configuration: source)
        try realm.writeMarkedObjects()
        try realm.writeCopy(configuration: copied)
        expectEqual(PlainText.found(in: target.url).isEmpty, (to != nil))
        try expectEqual(Realm(configuration: copied).titles(), realm.titles())
        copied.encryptionKey = to == nil ? PlainText.key : nil
        #expect(throws: Realm.Error.self) { try Realm(configuration: copied) }
    }

    @Test func aSeedStaysEncrypted() throws {
        let folder = Folder()
        let target = Folder()
        let seed = try Realm(configuration: folder.encrypted)
        try seed.writeMarkedObjects()
        let closed = target.url.appendingPathComponent("seed.realm")
        try FileLayout.makeFolder(target.url)
        try seed.writeCopy(toFile: closed, encryptionKey: PlainText.key)
        // The first one is open, and its log is not in its file.
        for (number, seed) in [folder.file, closed].enumerated() {
            let file = target.url.appendingPathComponent("\(number).realm")
            var configuration = target.encrypted
            configuration.fileURL = file
            configuration.seedFilePath = seed
            try expectEqual(Realm(configuration: configuration).titles().count, 100)
            try expectTrue(EncryptedHeader.ofClosed(file) != EncryptedHeader.ofClosed(seed))
        }
        expectTrue(PlainText.found(in: target.url).isEmpty)
    }

    @Test func aSeedThatTheKeyDoesNotFitIsNotCopied() throws {
        let folder = Folder()
        let target = Folder()
        try Realm(configuration: folder.configuration).writeMarkedObjects()
        var configuration = target.encrypted
        configuration.seedFilePath = folder.file
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        expectTrue(error?.code == .invalidDatabase && error?.message.contains("not encrypted") == true)
        expectTrue(!Realm.fileExists(for: configuration))
    }

    // MARK: Handles

    @Test func allWhoOpenARealmNeedTheSameKey() throws {
        let folder = Folder()
        let first = try Realm(configuration: folder.encrypted)
        try first.write { first.dynamicCreate("Task", value: ["_id": "a"]) }
        let second = try Realm(configuration: folder.encrypted)
        expectTrue(first.instance.core === second.instance.core && second.titles().count == 1)
        var other = folder.encrypted
        for key in [nil, PlainText.otherKey] {
            other.encryptionKey = key
            let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
            expectEqual(error?.code, .invalidDatabase)
        }
    }

    @Test func anotherProcessReadsWithTheKey() async throws {
        let folder = Folder()
        let realm = try await Realm(configuration: folder.encrypted)
        try realm.writeMarkedObjects()
        let file = folder.file
        await #expect(processExitsWith: .exitCode(17)) { [file = file as URL] in
            var configuration = Realm.Configuration(fileURL: file, encryptionKey: PlainText.key)
            let isRefused = (try? Realm.openNow(configuration)) == nil
            configuration.readOnly = true
            let read = try Realm.openNow(configuration).titles().count
            configuration.encryptionKey = PlainText.otherKey
            let isRefusedKey = (try? Realm.openNow(configuration)) == nil
            exit(isRefused && isRefusedKey && read == 100 ? 17 : 1)
        }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "more"]) }
        expectEqual(realm.titles().count, 101)
    }

    // MARK: File actions

    /// Nobody knows the key when they are carried out.
    @Test func aBackupIsEncryptedAndHasTheLog() throws {
        let folder = Folder()
        var core: RealmCore? = try RealmCore(
            location: .file(folder.file), isSynced: true, key: EncryptionKey(PlainText.key))
        let salt = try #require(core?.file.encryption?.cipher.header.salt)
        let crashed = try folder.copied()
        core = nil
        let backup = crashed.url.appendingPathComponent("backup/a")
        let action = FileAction(
            id: "1", kind: .backUpThenDelete, originalPath: crashed.file.path, backupPath: backup.path, userID: "u",
            file: ClientFileIdent(ident: 7, salt: 9), salt: salt)
        expectEqual(crashed.bytes["a.realm-wal"]?.isEmpty, false)
        try expectTrue(FileActionRunner.run(action))
        expectTrue(!FileManager.default.fileExists(atPath: crashed.file.path))
        expectTrue(PlainText.found(in: crashed.url).isEmpty)
        let saved = try RealmFile(url: backup, key: EncryptionKey(PlainText.key))
        try expectTrue(saved.read { try $0.number("version") } == nil)
        try expectTrue(saved.read { try $0.tableExists("history") })
    }

    @Test func anActionMeetsOnlyTheEncryptedFileItIsFor() throws {
        let folder = Folder()
        func make(_ key: EncryptionKey?) throws -> [UInt8]? {
            RealmFileSet.deleteDatabase(folder.file)
            return try RealmCore(location: .file(folder.file), isSynced: true, key: key).file.encryption?.cipher.header
                .salt
        }
        func run(_ salt: [UInt8]?) throws -> Bool {
            try FileActionRunner.run(
                FileAction(
                    id: "1", kind: .delete, originalPath: folder.file.path, userID: "u",
                    file: ClientFileIdent(ident: 7, salt: 9), salt: salt))
        }
        let key = try EncryptionKey(PlainText.key)
        let old = try #require(try make(key))
        let new = try #require(try make(key))
        expectTrue(old != new)
        try expectTrue(!run(old))
        // An action for a realm that was not encrypted leaves the file alone.
        try expectTrue(!run(nil))
        expectTrue(FileManager.default.fileExists(atPath: folder.file.path))
        try expectTrue(run(new))
        expectTrue(!FileManager.default.fileExists(atPath: folder.file.path))
        // A file that is not encrypted has taken the place of the encrypted one.
        try expectTrue(make(nil) == nil)
        try expectTrue(!run(new))
    }
}
