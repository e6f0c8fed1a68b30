import Foundation
import Testing

@testable import DeviceSync

@Suite(.timeLimit(.minutes(5)))
struct RemovedUserTests {
    private func write(_ id: String, _ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        realm.syncSession?.suspend()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": id]) }
    }

    private func keys(_ configuration: Realm.Configuration) throws -> [String] {
        try Realm(configuration: configuration).titles().keys.sorted()
    }

    @Test func removingAUserLeavesTheRealmThatAnotherTookOver() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let first = try await device.login()
        let own = try device.configuration()
        try write("own", own)
        var shared = own
        shared.fileURL = own.fileURL?.deletingLastPathComponent().appendingPathComponent("shared.realm")
        try write("a", shared)
        let second = try await device.login("second@example.test")
        var others = try device.configuration()
        others.fileURL = shared.fileURL
        try write("b", others)
        try await first.remove()
        let urls = try [own, shared].map { try #require($0.fileURL) }
        device.quit()
        for url in urls { #expect(await eventually { !RealmFileSet(main: url).isOpen }) }
        device.relaunch()
        #expect(!FileManager.default.fileExists(atPath: urls[0].path))
        #expect(device.app.allUsers.keys.sorted() == [second.id])
        var again = try device.configuration()
        again.fileURL = shared.fileURL
        #expect(try keys(again) == ["a", "b"])
    }

    @Test func aRemovedUsersOpenRealmStaysUntilTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let url = try await removeWhileOpen(user, device)
        #expect(await eventually { !RealmFileSet(main: url).isOpen })
        device.relaunch()
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(try device.app.core.store.users().isEmpty)
    }

    /// The app is launched again, and the realm released by returning.
    private func removeWhileOpen(_ user: User, _ device: Device) async throws -> URL {
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let url = try #require(realm.configuration.fileURL)
        try await user.remove()
        device.relaunch()
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(realm.titles().keys.sorted() == ["a"])
        return url
    }
}
