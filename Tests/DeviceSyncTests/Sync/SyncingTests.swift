import Foundation
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct SyncingTests {
    @Test func writesOfOneClientAreReadByAnother() async throws {
        let server = TestServer()
        try await server.start()
        let first = Device(server)
        _ = try await first.login()
        let realm = try await Realm(configuration: first.configuration())
        try realm.write {
            realm.dynamicCreate("Task", value: ["_id": "a", "title": "buy milk", "numbers": [1, 2, 3]])
        }
        try await #require(realm.syncSession).wait(for: .upload)

        let second = Device(server)
        _ = try await second.login("second@example.test")
        let other = try await Realm(configuration: second.configuration(), downloadBeforeOpen: .always)
        let task = try #require(other.dynamicObject(ofType: "Task", forPrimaryKey: "a"))
        expectTrue(task["title"] as? String == "buy milk")
        expectTrue((task["numbers"] as? DynamicList)?.compactMap { $0 as? Int } == [1, 2, 3])

        try other.write { task["title"] = "buy bread" }
        await expectTrue(eventually { realm.titles() == ["a": "buy bread"] })
    }

    /// Else a server would have to keep for ever what the client might still write on top of.
    @Test func aClientThatOnlyReadsSaysHowFarItIs() async throws {
        let server = TestServer()
        try await server.start()
        let first = Device(server)
        _ = try await first.login()
        let realm = try await Realm(configuration: first.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await #require(realm.syncSession).wait(for: .upload)
        realm.syncSession?.suspend()
        await expectTrue(eventually { realm.syncSession?.state == .inactive })

        let second = Device(server)
        _ = try await second.login("second@example.test")
        let before = server.messages.count
        let other = try await Realm(configuration: second.configuration(), downloadBeforeOpen: .always)
        expectEqual(other.titles().keys.sorted(), ["a"])
        await expectTrue(
            eventually {
                server.messages.dropFirst(before).contains { message in
                    guard case .upload(let upload) = message else { return false }
                    return upload.entries.isEmpty && upload.progress.serverVersion > 0
                }
            })
    }

    @Test func uploadsWaitForTheFirstMark() async throws {
        let server = TestServer()
        try await server.start()
        server.holdsMarks = true
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } })
        expectTrue(!server.messages.contains { $0.name == "upload" })
        server.holdsMarks = false
        await expectTrue(eventually { server.messages.contains { $0.name == "upload" } })
    }

    @Test func changesMadeOfflineAreUploadedAfterTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        try await offlineWrite(device, server)
        device.relaunch()
        expectTrue(device.app.currentUser != nil)
        let again = try await Realm(configuration: device.configuration())
        expectEqual(again.titles(), ["a": "first", "b": "second"])
        again.syncSession?.resume()
        try await #require(again.syncSession).wait(for: .upload)
        expectEqual(server.taskCount, 2)
    }

    private func offlineWrite(_ device: Device, _ server: TestServer) async throws {
        let realm = try await Realm(configuration: device.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "first"]) }
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b", "title": "second"]) }
        expectEqual(server.taskCount, 1)
    }

    /// A session that has left is still sent what was on its way: that its last write has arrived is no breach of the protocol.
    @Test func anAcknowledgementMayCrossAGoodbye() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        var second = user.configuration(partitionValue: 7)
        second.dynamicSchema = Device.schema
        let other = try await Realm(configuration: second)
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await session.wait(for: .upload)
        server.withholdsDownloads = true
        server.acknowledgesLate = true
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        await expectTrue(eventually { server.taskCount == 2 })
        session.suspend()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try await #require(other.syncSession).wait(for: .download)
        expectTrue(device.clientErrors.isEmpty)
        session.resume()
        try await session.wait(for: .upload)
    }

    @Test func allRealmsOfAUserShareOneConnection() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        var second = user.configuration(partitionValue: 7)
        second.dynamicSchema = Device.schema
        let realms = [
            try await Realm(configuration: device.configuration()), try await Realm(configuration: second),
        ]
        for realm in realms { try await #require(realm.syncSession).wait(for: .download) }
        expectEqual(server.connectionCount, 1)
        expectEqual(user.allSessions.count, 2)
        expectEqual(user.session(forPartitionValue: .int64(7)), realms[1].syncSession)
    }

    @Test func aLostConnectionComesBack() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .download)
        // The connection comes back by itself a second later, and at once if it is told to.
        server.dropConnections()
        expectEqual(session.state, .active)
        session.reconnect()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await session.wait(for: .upload)
        expectEqual(server.taskCount, 1)
    }

    @Test func aDownloadWaitedForWhileTheConnectionIsDownIsAskedForOnTheNext() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .download)
        server.refusesConnections = true
        server.dropConnections()
        await expectTrue(eventually { session.connectionState == .disconnected })
        // The connection takes one thing after the other: the wait is there before the connection.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            session.wait(for: .download, queue: nil) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
            server.refusesConnections = false
            session.reconnect()
        }
    }

    @Test func aTransientErrorIsRetriedAndAFatalOneReported() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .download)
        server.forgetMessages()
        server.sendError(.sessionClosed, JSONErrorBody(message: "later", action: .transient, tryAgain: true))
        // What it last integrated may still be on its way to the server when the error comes.
        await expectTrue(
            eventually {
                server.messages.map(\.name).filter { $0 != "upload" }.starts(with: ["unbind", "bind", "ident"])
            })
        expectEqual(session.state, .active)
        server.sendError(
            .otherSessionError, JSONErrorBody(message: "no more", action: .applicationBug, tryAgain: false))
        await expectTrue(eventually { session.state == .inactive })
        await expectTrue(eventually { device.clientErrors.first?.message == "no more" })
        await #expect(throws: SyncError.self) { try await session.wait(for: .download) }
    }

    /// A server that thinks that it may be tried again does not make it so.
    @Test(arguments: [ErrorAction.applicationBug, .deleteRealm])
    func anErrorThatStopsTheSessionIsFatal(action: ErrorAction) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .download)
        server.sendError(.otherSessionError, JSONErrorBody(message: "stop", action: action, tryAgain: true))
        await expectTrue(eventually { session.state == .inactive })
        await expectTrue(eventually { device.clientErrors.count == 1 })
        expectEqual(device.clientErrors.first?.isFatal, true)
    }

    /// What the user may not read stays on the device, unless the server wants it gone.
    @Test(arguments: [ErrorAction.applicationBug, .deleteRealm])
    func aDeniedPermissionIsToldAsSuch(action: ErrorAction) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        var realm: Realm? = try await Realm(configuration: device.configuration())
        let session = try #require(realm?.syncSession)
        try await session.wait(for: .download)
        server.sendError(
            .permissionDenied, JSONErrorBody(message: "permission denied: no", action: action, tryAgain: false))
        await expectTrue(eventually { session.state == .inactive })
        await expectTrue(eventually { device.clientErrors.count == 1 })
        let error = try #require(device.clientErrors.first)
        expectTrue(error.code == .permissionDeniedError && error.code.rawValue == 9)
        expectTrue(error.message == "permission denied: no" && error.isFatal && error.wireCode == 206)
        expectTrue(error.clientResetInfo() == nil)
        let file = try #require(realm?.configuration.fileURL).path
        expectEqual((error.deleteRealmUserInfo() != nil), (action == .deleteRealm))
        if let token = error.deleteRealmUserInfo() {
            realm = nil
            try await SyncSession.performFileAction(token)
        }
        expectEqual(FileManager.default.fileExists(atPath: file), (action != .deleteRealm))
    }
}
