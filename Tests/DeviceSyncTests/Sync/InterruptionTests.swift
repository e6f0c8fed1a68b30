import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// A disk that fails for a while: the server never hears of it, and would answer with a client reset if it did.
@Suite(.hangGuard)
struct InterruptionTests {
    private func hasUnbound(_ server: TestServer) -> Bool { server.messages.contains { $0.name == "unbind" } }
    private func hasComplained(_ server: TestServer) -> Bool { server.messages.contains { $0.name == "json_error" } }

    @Test func downloadsThatCannotBeStoredAreRepeated() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        let locked = try LockedFile(realm)
        try server.edit { try $0.createObject(.init("Task", .string("b"))) }
        await expectTrue(eventually { hasUnbound(server) })
        await expectTrue(eventually { device.clientErrors.contains { $0.userInfo["Is Fatal"] as? Bool == false } })
        expectEqual(session.state, .active)
        try locked.release()
        try await session.wait(for: .download)
        expectEqual(realm.titles().keys.sorted(), ["a", "b"])
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "c"]) }
        try await session.wait(for: .upload)
        expectEqual(server.taskCount, 3)
        expectTrue(!hasComplained(server))
        expectEqual(realm.instance.core.sync.ident?.ident, 2)
    }

    @Test func anIdentityThatCannotBeKeptIsAskedForAgain() async throws {
        let server = TestServer()
        try await server.start()
        server.refusesConnections = true
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let locked = try LockedFile(realm)
        server.refusesConnections = false
        realm.syncSession?.reconnect()
        await expectTrue(eventually { hasUnbound(server) })
        expectTrue(!server.messages.contains { $0.name == "ident" })
        try locked.release()
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(server.taskCount, 1)
        expectTrue(!hasComplained(server))
    }

    /// A realm with one local write whose session only has to upload it, and that waits for a MARK to be let to.
    private func aboutToUpload(_ device: Device, _ server: TestServer) async throws -> Realm {
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        // The last of what the session says; it is inactive before that has arrived.
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        server.forgetMessages()
        server.holdsMarks = true
        let version = realm.instance.core.snapshot.version
        session.resume()
        // What the server sends at first is stored: from now on the session only has to upload.
        await expectTrue(eventually { realm.instance.core.snapshot.version > version })
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } })
        return realm
    }

    @Test func aHistoryThatCannotBeReadNowIsUploadedLater() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await aboutToUpload(device, server)
        try RealmFileEdits.run("ALTER TABLE history RENAME TO hidden", on: realm)
        server.holdsMarks = false
        await expectTrue(eventually { hasUnbound(server) })
        try RealmFileEdits.run("ALTER TABLE hidden RENAME TO history", on: realm)
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(server.taskCount, 1)
        expectTrue(!hasComplained(server))
    }

    /// Each try begins with a DOWNLOAD that can be stored.
    @Test func aHistoryThatCannotBeReadForLongIsToldOfOnce() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await aboutToUpload(device, server)
        let session = try #require(realm.syncSession)
        try RealmFileEdits.run(
            """
            ALTER TABLE history RENAME TO hidden;
            CREATE VIEW history AS SELECT version, timestamp, origin,
                CASE WHEN origin = 0 AND length(changeset) > 0 THEN abs(-9223372036854775807 - 1) ELSE remote END
                AS remote, changeset, reciprocal FROM hidden;
            CREATE TRIGGER adding INSTEAD OF INSERT ON history
            BEGIN
                INSERT INTO hidden VALUES(
                    NEW.version, NEW.timestamp, NEW.origin, NEW.remote, NEW.changeset, NEW.reciprocal);
            END;
            CREATE TRIGGER removing INSTEAD OF DELETE ON history
            BEGIN DELETE FROM hidden WHERE version = OLD.version; END;
            """, on: realm)
        server.holdsMarks = false
        let version = realm.instance.core.snapshot.version
        for _ in 0..<4 {
            server.forgetMessages()
            session.reconnect()
            await expectTrue(eventually { hasUnbound(server) })
        }
        expectTrue(realm.instance.core.snapshot.version >= version + 2)
        await expectTrue(eventually { !device.clientErrors.isEmpty })
        try RealmFileEdits.run("DROP VIEW history; ALTER TABLE hidden RENAME TO history", on: realm)
        try await session.wait(for: .upload)
        expectEqual(device.clientErrors.count, 1)
        expectEqual(server.taskCount, 1)
    }
}
