import Foundation
import Testing

@testable import DeviceSync

@Suite(.timeLimit(.minutes(5)))
struct AppTests {
    @Test func aUserIsCachedForTheNextLaunchWithoutANetwork() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        #expect(user.isLoggedIn)
        #expect(user.profile.email == "a@b.c")
        let attributes = try FileManager.default.attributesOfItem(atPath: device.app.core.layout.metadataFile.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        device.transport.isOffline = true
        device.relaunch()
        #expect(device.app.currentUser?.id == user.id)
        #expect(device.app.currentUser?.isLoggedIn == true)
        let realm = try await Realm(configuration: device.configuration())
        #expect(realm.isEmpty)
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
        #expect(device.app.currentUser == nil)
    }

    @Test func theFirstLoginNeedsTheNetwork() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        device.transport.isOffline = true
        await #expect(throws: AppError.self) { try await device.login() }
        #expect(device.app.allUsers.isEmpty)
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
        #expect(user.state == .loggedOut)
        #expect(user.accessToken == nil)
        #expect(device.app.currentUser == nil)
        #expect(await eventually { session.state == .inactive })
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
        #expect(try store.users().isEmpty)
    }

    @Test func anErrorBodyWinsOverTheStatus() {
        let answer = NetworkResponse(
            status: 200, headers: ["content-type": "application/json"],
            body: Data(#"{"error":"name already in use","error_code":"AccountNameInUse"}"#.utf8))
        #expect { try AppServicesClient.interpret(answer) } throws: { ($0 as? AppError)?.code == .accountNameInUse }
    }
}
