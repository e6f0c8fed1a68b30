import Foundation
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// A flexible realm whose app comes with another schema version: what was written is uploaded, and the file is made anew.
@Suite(.hangGuard)
struct FlexibleSchemaVersionTests {
    private let server = FlexibleServer()

    private func configuration(_ device: FlexibleDevice, _ version: UInt64) throws -> Realm.Configuration {
        var configuration = try device.configuration(subscribing: ["TRUEPREDICATE"])
        configuration.schemaVersion = version
        return configuration
    }

    /// Makes a realm with an object that is not uploaded, and closes it.
    private func offline(_ device: FlexibleDevice) async throws {
        _ = try await device.login()
        var realm: Realm? = try await Realm(configuration: configuration(device, 1), downloadBeforeOpen: .always)
        _ = try await realm?.suspended()
        try realm?.write { _ = realm?.dynamicCreate("Task", value: ["_id": "offline"]) }
        try await device.relaunch(without: &realm)
        server.forgetMessages()
    }

    @Test func offlineWritesAreUploadedAndTheFileBeginsAnew() async throws {
        try await server.start()
        let device = FlexibleDevice(server)
        try await offline(device)
        try server.create("other", title: "server")
        let realm = try await Realm(configuration: configuration(device, 2), downloadBeforeOpen: .once)
        expectEqual(server.keys, ["offline", "other"])
        expectEqual(realm.titles().keys.sorted(), ["offline", "other"])
        expectTrue(realm.instance.core.schemaVersion == 2 && realm.instance.core.sync.isOutdated == nil)
        let binds = server.messages.compactMap { message in
            if case .bind(let bind) = message { bind } else { nil }
        }
        expectEqual(binds.map(\.needsIdent), [false, true])
        try expectEqual(binds.map { try $0.flexible().schemaVersion }, [2, 2])
        expectEqual(realm.subscriptions.version, 1)
        expectTrue(device.errors.withLock { $0.isEmpty })
    }

    @Test func anOpeningThatDoesNotDownloadSaysWhatToDo() async throws {
        try await server.start()
        let device = FlexibleDevice(server)
        try await offline(device)
        let error = try await #require(throws: Realm.Error.self) {
            _ = try await Realm(configuration: configuration(device, 2))
        }
        expectTrue(error.code == .fail && error.message.contains("downloadBeforeOpen"))
        // The version that the file has opens as ever.
        let realm = try await Realm(configuration: configuration(device, 1))
        expectEqual(realm.titles().count, 1)
    }

    /// Uploaded and marked, and killed before the file was made anew.
    @Test func aFileThatWasLeftOutdatedIsMadeAnew() async throws {
        try await server.start()
        let device = FlexibleDevice(server)
        try await offline(device)
        var realm: Realm? = try await Realm(configuration: configuration(device, 1))
        try await realm?.syncSession?.wait(for: .upload)
        try leaveOutdated(try #require(realm?.instance.core))
        try await device.relaunch(without: &realm)
        let opened = try await Realm(configuration: configuration(device, 2), downloadBeforeOpen: .once)
        expectEqual(opened.titles().keys.sorted(), ["offline"])
    }

    @Test func writesToAnOutdatedFileAreUploadedFirst() async throws {
        try await server.start()
        let device = FlexibleDevice(server)
        try await offline(device)
        var realm: Realm? = try await Realm(configuration: configuration(device, 1))
        try await realm?.syncSession?.wait(for: .upload)
        _ = try await realm?.suspended()
        try leaveOutdated(try #require(realm?.instance.core))
        try realm?.write { _ = realm?.dynamicCreate("Task", value: ["_id": "late"]) }
        try await device.relaunch(without: &realm)
        let opened = try await Realm(configuration: configuration(device, 2), downloadBeforeOpen: .once)
        expectEqual(server.keys.sorted(), ["late", "offline"])
        expectEqual(opened.titles().keys.sorted(), ["late", "offline"])
    }

    private func leaveOutdated(_ core: RealmCore) throws {
        core.lock.lock()
        defer { core.lock.unlock() }
        var sync = core.sync
        sync.isOutdated = true
        try core.setSync(sync)
    }
}
