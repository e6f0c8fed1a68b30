import Foundation
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Resets of a client whose last uploads were integrated without its hearing of it.
@Suite(.hangGuard)
struct IntegratedUploadTests {
    private func counter(_ realm: Realm) -> Int? {
        realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["count"] as? Int
    }

    /// Increments once online, unacknowledged, and once offline; then the client must reset.
    private func resetCounter(_ server: TestServer, _ mode: ClientResetMode) async throws -> (Realm, Device) {
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(mode))
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "count": 10]) }
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        try await session.wait(for: .download)

        let uploads = server.messages.count { $0.name == "upload" }
        server.withholdsDownloads = true
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?.increment("count", by: 1) }
        await expectTrue(eventually { server.messages.count { $0.name == "upload" } > uploads })
        session.suspend()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?.increment("count", by: 100) }
        server.withholdsDownloads = false
        server.terminate()
        session.resume()
        return (realm, device)
    }

    @Test func integratedUploadsAreNotMadeTwice() async throws {
        let server = TestServer()
        server.tellsIntegrated = true
        let (realm, device) = try await resetCounter(server, .recoverUnsyncedChanges())
        let session = try #require(realm.syncSession)
        await expectTrue(eventually { !server.outcomes.isEmpty })
        try await session.wait(for: .upload)
        expectEqual(counter(realm), 111)
        expectTrue(server.outcomes.contains { $0.contains("\"recovered\":1") && $0.contains("\"unsynced\":1") })
        expectTrue(device.clientErrors.isEmpty)
    }

    /// The schedule is what it is meant to be: a server that does not say how far it came has the change made twice.
    @Test func aServerThatSaysNothingGetsEverythingThatItHasNotAcknowledged() async throws {
        let server = TestServer()
        let (realm, _) = try await resetCounter(server, .recoverUnsyncedChanges())
        await expectTrue(eventually { !server.outcomes.isEmpty })
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(counter(realm), 112)
    }

    @Test func discardingCountsOnlyWhatIsLost() async throws {
        let server = TestServer()
        server.tellsIntegrated = true
        let (realm, _) = try await resetCounter(server, .discardUnsyncedChanges())
        await expectTrue(eventually { server.outcomes.contains { $0.contains("\"discarded\":1") } })
        expectEqual(counter(realm), 11)
    }
}
