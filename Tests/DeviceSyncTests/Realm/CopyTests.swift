import Changesets
import Foundation
import GRDB
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Copies of realms, and realms that start as copies.
@Suite(.hangGuard)
struct CopyTests {
    @Test func aSyncedCopyOfAnOldVersionIsOfTheNewest() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let frozen = realm.freeze()
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        try server.edit { transaction in
            try transaction.createObject(.init("Task", .string("b")))
        }
        try await session.wait(for: .download)
        // The download is no write, but the server has to hear of it.
        try await session.wait(for: .upload)
        var target = try device.configuration()
        target.fileURL = device.folder.appendingPathComponent("copy.realm")
        try frozen.writeCopy(configuration: target)
        let copy = try await Realm(configuration: target, downloadBeforeOpen: .always)
        expectEqual(copy.titles().keys.sorted(), ["b"])
    }

    @Test func aSyncedCopyGetsNothingTwiceThatItHasFromItsOriginal() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        server.holdsPages = true
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "numbers": [1, 2]]) }
        try await session.wait(for: .upload)
        var target = try device.configuration()
        target.fileURL = device.folder.appendingPathComponent("copy.realm")
        let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: target) }
        expectTrue(error?.code == .fail && error?.message.contains("wait(for: .download)") == true)
        server.holdsPages = false
        try await session.wait(for: .download)
        try realm.writeCopy(configuration: target)
        let copy = try await Realm(configuration: target, downloadBeforeOpen: .always)
        let numbers = copy.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["numbers"] as? DynamicList
        expectTrue(numbers?.map { $0 as? Int } == [1, 2])
    }

    /// A download that is just being stored has taken what was to be uploaded out of the history.
    @Test func aSyncedCopyIsNotMadeOfWhatTheFileHasLeftBehind() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        session.suspend()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let version = realm.instance.core.snapshot.version
        try RealmFileEdits.run(
            """
            DELETE FROM history;
            UPDATE meta SET value = CAST('\(version + 1)' AS BLOB) WHERE name = 'version'
            """, on: realm)
        var target = try device.configuration()
        target.fileURL = device.folder.appendingPathComponent("copy.realm")
        let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: target) }
        expectEqual(error?.code, .fail)
        expectTrue(!Realm.fileExists(for: target))
    }

    @Test func aCopyThatIsNotInOneFileIsAnError() throws {
        let folder = Folder()
        let file = try RealmFile(url: folder.file)
        try file.write(FileCommit(version: 2))
        let other = try DatabaseQueue(path: folder.file.path)
        try other.read { _ = try Row.fetchAll($0, sql: "SELECT * FROM meta") }
        try file.read { try $0.execute(sql: "PRAGMA busy_timeout = 20") }
        #expect(throws: Realm.Error.self) { try file.closeWithoutLog() }
        try other.close()
        try file.closeWithoutLog()
        expectTrue(!FileManager.default.fileExists(atPath: folder.file.path + "-wal"))
        let header = try #require(FileManager.default.contents(atPath: folder.file.path))
        // The header is that of a file that needs no log to be read.
        expectEqual(header[18], 1)
    }

    @Test func aSeedThatIsOpenIsCopiedWhole() throws {
        let folder = Folder()
        let seed = try Realm(configuration: folder.configuration)
        try seed.write { seed.dynamicCreate("Task", value: ["_id": "a"]) }
        var configuration = folder.configuration
        configuration.fileURL = folder.url.appendingPathComponent("new/b.realm")
        configuration.seedFilePath = folder.file
        let realm = try Realm(configuration: configuration)
        expectEqual(realm.titles().keys.sorted(), ["a"])
        try seed.write { seed.dynamicCreate("Task", value: ["_id": "b"]) }
        expectEqual(realm.titles().keys.sorted(), ["a"])
    }
}
