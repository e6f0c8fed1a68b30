import Foundation
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Encrypted realms that sync, and their client resets.
@Suite(.hangGuard)
struct EncryptedSyncTests {
    private func configuration(_ device: Device, _ mode: ClientResetMode = .manual()) throws -> Realm.Configuration {
        var configuration = try device.configuration(mode)
        configuration.encryptionKey = PlainText.key
        return configuration
    }

    /// A realm with synced objects and one that is not.
    private func offline(_ device: Device, _ server: TestServer, _ mode: ClientResetMode) async throws -> Realm {
        _ = try await device.login()
        let realm = try await Realm(configuration: configuration(device, mode))
        try realm.writeMarkedObjects()
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "offline", "title": PlainText.marker]) }
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        return realm
    }

    @Test func downloadedObjectsAreEncrypted() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await offline(device, server, .manual())
        let other = Device(server)
        _ = try await other.login("second@example.test")
        let copy = try await Realm(configuration: configuration(other), downloadBeforeOpen: .always)
        expectEqual(copy.titles().count, 100)
        expectTrue(PlainText.found(in: device.folder).isEmpty && PlainText.found(in: other.folder).isEmpty)
    }

    @Test func aSyncedCopyHasAKeyOfItsOwn() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: configuration(device))
        try realm.writeMarkedObjects()
        try await #require(realm.syncSession).wait(for: .upload)
        try await #require(realm.syncSession).wait(for: .download)
        var target = try configuration(device)
        target.fileURL = device.folder.appendingPathComponent("copy.realm")
        target.encryptionKey = PlainText.otherKey
        try realm.writeCopy(configuration: target)
        let copy = try await Realm(configuration: target, downloadBeforeOpen: .always)
        expectEqual(copy.titles().count, 100)
        expectTrue(PlainText.found(in: device.folder).isEmpty)
    }

    /// What the blocks of a reset find in the files.
    private final class Finds: Sendable {
        let folder: URL
        let found = Mutex<(moments: Int, plain: [String], files: Set<String>)>((0, [], []))

        init(_ folder: URL) { self.folder = folder }

        func look() {
            let plain = PlainText.found(in: folder)
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            found.withLock {
                $0.moments += 1
                $0.plain += plain
                $0.files.formUnion(files.map { URL(fileURLWithPath: $0).lastPathComponent })
            }
        }
    }

    @Test func aRealmStaysEncryptedThroughAReset() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let finds = Finds(device.folder)
        let copied = device.folder.appendingPathComponent("before.realm")
        let mode = ClientResetMode.recoverUnsyncedChanges(
            beforeReset: { before in
                finds.look()
                try? before.writeCopy(toFile: copied, encryptionKey: PlainText.otherKey)
                finds.look()
            }, afterReset: { _, _ in finds.look() })
        let realm = try await offline(device, server, mode)
        server.terminate()
        let session = try #require(realm.syncSession)
        session.resume()
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        expectEqual(realm.titles().count, 101)
        let (moments, plain, files) = finds.found.withLock { $0 }
        expectTrue(moments == 3 && plain.isEmpty)
        expectTrue(files.contains { $0.hasSuffix(".fresh") })
        expectTrue(PlainText.found(in: device.folder).isEmpty)
        let before = try await Realm(
            configuration: Realm.Configuration(fileURL: copied, encryptionKey: PlainText.otherKey))
        expectEqual(before.titles().count, 101)
    }

    /// The realm is released by returning.
    private func reset(_ device: Device, _ server: TestServer) async throws -> (backup: String, realm: URL) {
        let realm = try await offline(device, server, .manual())
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.code == .clientResetError } })
        let (path, _) = try #require(device.clientErrors.first { $0.code == .clientResetError }?.clientResetInfo())
        return (path, try #require(realm.configuration.fileURL))
    }

    @Test func theBackupOfAManualResetIsEncrypted() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let (backup, file) = try await reset(device, server)
        device.quit()
        await expectTrue(eventually { !RealmFileSet(main: file).isOpen })
        device.relaunch()
        try expectTrue(device.app.core.store.fileActions().isEmpty)
        expectTrue(!FileManager.default.fileExists(atPath: file.path))
        expectTrue(PlainText.found(in: device.folder).isEmpty)
        let saved = try await Realm(
            configuration: Realm.Configuration(
                fileURL: URL(fileURLWithPath: backup), encryptionKey: PlainText.key, readOnly: true))
        expectEqual(saved.titles().count, 101)
        let again = try await Realm(configuration: configuration(device), downloadBeforeOpen: .always)
        expectEqual(again.titles().count, 100)
    }
}
