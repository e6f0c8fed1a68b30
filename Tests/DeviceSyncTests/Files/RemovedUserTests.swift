import Foundation
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct RemovedUserTests {
    private func write(_ id: String, _ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        realm.syncSession?.suspend()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": id]) }
    }

    private func keys(_ configuration: Realm.Configuration) throws -> [String] {
        try Realm(configuration: configuration).titles().keys.sorted()
    }

    /// Writes to a realm that another user has used before, whose uploads may still be under way.
    private func writeOnceClosed(_ id: String, _ configuration: Realm.Configuration) async throws {
        let url = try #require(configuration.fileURL)
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
        try write(id, configuration)
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
        try await writeOnceClosed("b", others)
        try await first.remove()
        let urls = try [own, shared].map { try #require($0.fileURL) }
        device.quit()
        for url in urls { await expectTrue(eventually { !RealmFileSet(main: url).isOpen }) }
        device.relaunch()
        expectTrue(!FileManager.default.fileExists(atPath: urls[0].path))
        expectEqual(device.app.allUsers.keys.sorted(), [second.id])
        var again = try device.configuration()
        again.fileURL = shared.fileURL
        try expectEqual(keys(again), ["a", "b"])
    }

    /// Removes all users whose realms nobody has open any more, and launches again.
    private func relaunch(_ device: Device, removing users: [User], closed urls: [URL]) async throws {
        for user in users { try await user.remove() }
        device.quit()
        for url in urls { await expectTrue(eventually { !RealmFileSet(main: url).isOpen }) }
        device.relaunch()
    }

    @Test func anothersRealmInARemovedUsersFolderStaysWhateverItsName() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let first = try await device.login()
        let own = try device.configuration()
        try write("own", own)
        _ = try await device.login("second@example.test")
        var others = try device.configuration()
        others.fileURL = own.fileURL?.deletingLastPathComponent().appendingPathComponent("notes.db")
        try write("b", others)
        let urls = try [own, others].map { try #require($0.fileURL) }
        try await relaunch(device, removing: [first], closed: urls)
        expectTrue(!FileManager.default.fileExists(atPath: urls[0].path))
        var again = try device.configuration()
        again.fileURL = others.fileURL
        try expectEqual(keys(again), ["b"])
    }

    /// Listed as another's, or by its name a realm of nobody knows whom.
    @Test(arguments: ["notes.db", "stray.realm"])
    func aDamagedRealmInARemovedUsersFolderStaysUnlessItIsTheUsersOwn(name: String) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let first = try await device.login()
        let own = try device.configuration()
        try write("own", own)
        let url = try #require(own.fileURL)
        let damaged = url.deletingLastPathComponent().appendingPathComponent(name)
        if damaged.pathExtension == "db" {
            _ = try await device.login("second@example.test")
            var others = try device.configuration()
            others.fileURL = damaged
            try write("b", others)
        }
        try await first.remove()
        device.quit()
        for file in [url, damaged] { await expectTrue(eventually { !RealmFileSet(main: file).isOpen }) }
        try Data("no database".utf8).write(to: damaged)
        device.relaunch()
        expectTrue(!FileManager.default.fileExists(atPath: url.path))
        expectTrue(FileManager.default.fileExists(atPath: damaged.path))
        expectTrue(!(try device.app.core.store.users().contains { $0.id == first.id }))
    }

    @Test func aFileThatCannotBeReadKeepsNoneOfARemovedUsersOthers() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let own = try device.configuration()
        try write("own", own)
        let url = try #require(own.fileURL)
        // Before and after the other in the order of the paths.
        let unreadable = ["!.realm", "~.realm"].map { url.deletingLastPathComponent().appendingPathComponent($0) }
        for file in unreadable {
            var configuration = own
            configuration.fileURL = file
            try write("a", configuration)
        }
        try await user.remove()
        device.quit()
        for file in unreadable + [url] { await expectTrue(eventually { !RealmFileSet(main: file).isOpen }) }
        for file in unreadable {
            RealmFileSet.deleteDatabase(file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        }
        device.relaunch()
        expectTrue(!FileManager.default.fileExists(atPath: url.path))
        try expectEqual(device.app.core.store.users().count, 1)
        for file in unreadable { try FileManager.default.removeItem(at: file) }
        device.relaunch()
        expectTrue(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
        try expectTrue(device.app.core.store.users().isEmpty)
    }

    @Test func aCopyThatWasNeverOpenedGoesWithItsUser() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let copy = try await writeCopy(device)
        let folder = copy.deletingLastPathComponent()
        expectTrue(FileManager.default.fileExists(atPath: copy.path))
        let original = try #require(try device.configuration().fileURL)
        try await relaunch(device, removing: [user], closed: [original, copy])
        expectTrue(!FileManager.default.fileExists(atPath: folder.path))
        try expectTrue(device.app.core.store.users().isEmpty)
    }

    /// Writes a copy beside the realm, which is released by returning.
    private func writeCopy(_ device: Device) async throws -> URL {
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        var target = try device.configuration()
        let copy = try #require(target.fileURL).deletingLastPathComponent().appendingPathComponent("copy.realm")
        target.fileURL = copy
        try realm.writeCopy(configuration: target)
        return copy
    }

    @Test func aRealmThatTwoRemovedUsersSharedGoes() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let first = try await device.login()
        let shared = try device.configuration()
        try write("a", shared)
        let second = try await device.login("second@example.test")
        var others = try device.configuration()
        others.fileURL = shared.fileURL
        try await writeOnceClosed("b", others)
        let url = try #require(shared.fileURL)
        try await relaunch(device, removing: [first, second], closed: [url])
        expectTrue(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
        try expectTrue(device.app.core.store.users().isEmpty)
    }

    @Test func aRemovedUsersOpenRealmStaysUntilTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let url = try await removeWhileOpen(user, device)
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
        device.relaunch()
        expectTrue(!FileManager.default.fileExists(atPath: url.path))
        try expectTrue(device.app.core.store.users().isEmpty)
    }

    /// The app is launched again, and the realm released by returning.
    private func removeWhileOpen(_ user: User, _ device: Device) async throws -> URL {
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let url = try #require(realm.configuration.fileURL)
        try await user.remove()
        device.relaunch()
        expectTrue(FileManager.default.fileExists(atPath: url.path))
        expectEqual(realm.titles().keys.sorted(), ["a"])
        return url
    }
}
