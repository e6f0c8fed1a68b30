import Foundation
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// What a client reset left for later must not meet the realm that has taken the place of the one it was for.
@Suite(.hangGuard)
struct FileIdentityTests {
    /// A manual reset that the app does not handle; releases the realm by returning.
    private func leaveToTheApp(_ device: Device, _ server: TestServer) async throws -> Realm.Configuration {
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(.manual()))
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "old"]) }
        try await #require(realm.syncSession).wait(for: .upload)
        server.terminate()
        await expectTrue(eventually { !device.clientErrors.isEmpty })
        try expectEqual(device.app.core.store.fileActions().count, 1)
        device.errors.withLock { $0 = [] }
        return realm.configuration
    }

    private func isClosed(_ configuration: Realm.Configuration) async throws -> Bool {
        let url = try #require(configuration.fileURL)
        return await eventually { !RealmFileSet(main: url).isOpen }
    }

    private func writeOffline(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "offline"]) }
    }

    @Test func aRealmThatWasDeletedAndMadeAnewIsNotDeletedAtTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let configuration = try await leaveToTheApp(device, server)
        try await expectTrue(isClosed(configuration))
        server.refusesConnections = true
        server.dropConnections()
        // By its file alone, so that nothing but the file's identity can tell.
        try expectTrue(Realm.deleteFiles(for: Realm.Configuration(fileURL: configuration.fileURL)))
        try writeOffline(configuration)
        device.quit()
        try await expectTrue(isClosed(configuration))
        device.relaunch()
        try expectTrue(device.app.core.store.fileActions().isEmpty)
        let realm = try await Realm(configuration: device.configuration())
        expectEqual(realm.titles().keys.sorted(), ["offline"])
        server.refusesConnections = false
    }

    @Test func deletingARealmSettlesWhatAResetLeft() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let configuration = try await leaveToTheApp(device, server)
        try await expectTrue(isClosed(configuration))
        try expectTrue(Realm.deleteFiles(for: configuration))
        try expectTrue(device.app.core.store.fileActions().isEmpty)
    }

    @Test func aRealmThatALaterResetRecoveredIsNotDeletedAtTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let configuration = try await leaveToTheApp(device, server)
        try await expectTrue(isClosed(configuration))
        try await recover(device)
        device.quit()
        try await expectTrue(isClosed(configuration))
        device.relaunch()
        let realm = try await Realm(configuration: device.configuration())
        expectEqual(realm.titles().keys.sorted(), ["a", "b"])
    }

    private func recover(_ device: Device) async throws {
        let realm = try await Realm(configuration: device.configuration(.recoverUnsyncedChanges()))
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        try await #require(realm.syncSession).wait(for: .upload)
        try expectTrue(device.app.core.store.fileActions().isEmpty)
    }

    @Test func anActionMeetsOnlyTheFileItIsFor() throws {
        let folder = Folder()
        for (wanted, isDone) in [(FileIdent(7), true), (8, false), (0, false)] {
            let core = try RealmCore(location: .file(folder.file), isSynced: true)
            var sync = core.sync
            sync.ident = ClientFileIdent(ident: 7, salt: 9)
            try core.setSync(sync)
            try core.file.close()
            let action = FileAction(
                id: "1", kind: .delete, originalPath: folder.file.path, userID: "u",
                file: ClientFileIdent(ident: wanted, salt: wanted == 0 ? 0 : 9))
            try expectEqual(FileActionRunner.run(action), isDone)
            expectEqual(FileManager.default.fileExists(atPath: folder.file.path), !isDone)
        }
    }
}
