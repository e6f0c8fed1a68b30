import Foundation
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct AppTests {
    @Test func aUserIsCachedForTheNextLaunchWithoutANetwork() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        expectTrue(user.isLoggedIn)
        expectEqual(user.profile.email, "a@b.c")
        let attributes = try FileManager.default.attributesOfItem(atPath: device.app.core.layout.metadataFile.path)
        expectTrue((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        device.transport.isOffline = true
        device.relaunch()
        expectEqual(device.app.currentUser?.id, user.id)
        expectEqual(device.app.currentUser?.isLoggedIn, true)
        let realm = try await Realm(configuration: device.configuration())
        expectTrue(realm.isEmpty)
    }

    @Test func aWrongPasswordIsTheServersError() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        await #expect {
            try await device.app.login(credentials: .emailPassword(email: "wrong", password: "x"))
        } throws: {
            ($0 as? AppError)?.code == .invalidPassword && ($0 as? AppError)?.httpStatusCode == 401
        }
        expectTrue(device.app.currentUser == nil)
    }

    @Test func theFirstLoginNeedsTheNetwork() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        device.transport.isOffline = true
        await #expect(throws: AppError.self) { try await device.login() }
        expectTrue(device.app.allUsers.isEmpty)
    }

    @Test func loggingOutClearsTokensAndStopsSessions() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .download)
        try await user.logOut()
        expectEqual(user.state, .loggedOut)
        expectTrue(user.accessToken == nil)
        expectTrue(device.app.currentUser == nil)
        await expectTrue(eventually { session.state == .inactive })
    }

    @Test func aDamagedMetadataFileIsReplaced() async throws {
        let server = TestServer()
        try await server.start()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("meta-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("sync_metadata.realm")
        try Data(repeating: 9, count: 5000).write(to: file)
        let store = MetadataStore(file: file)
        try expectTrue(store.users().isEmpty)
    }

    @Test func anErrorBodyWinsOverTheStatus() {
        let answer = NetworkResponse(
            status: 200, headers: ["content-type": "application/json"],
            body: Data(#"{"error":"name already in use","error_code":"AccountNameInUse"}"#.utf8))
        #expect { try AppServicesClient.interpret(answer) } throws: { ($0 as? AppError)?.code == .accountNameInUse }
    }
}
