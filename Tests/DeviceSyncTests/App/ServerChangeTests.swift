import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Apps that go over to another server.
@Suite(.hangGuard)
struct ServerChangeTests {
    /// The HTTP side of several servers, each of which says that it is where it was asked.
    private struct Servers: NetworkTransport {
        let known: [String]
        let stub: StubTransport

        func send(_ request: NetworkRequest) async throws -> NetworkResponse {
            guard let origin = known.first(where: request.url.hasPrefix) else { throw StubTransport.Offline() }
            guard request.url.hasSuffix("/location") else { return try await stub.send(request) }
            let text = #"{"deployment_model":"LOCAL","location":"x","hostname":"\#(origin)","ws_hostname":""}"#
            return NetworkResponse(
                status: 200, headers: ["content-type": "application/json"], body: Data(text.utf8))
        }
    }

    private func servers() async throws -> (TestServer, TestServer) {
        let servers = (TestServer(), TestServer(firstFile: 1000))
        try await servers.0.start()
        try await servers.1.start()
        return servers
    }

    /// The new server, of another deployment, does not know the realm's file: the client resets there, and brings along what no server has.
    @Test func aServerOfAnotherDeploymentHasTheRealmReset() async throws {
        let (old, new) = try await servers()
        let before = old.baseURL
        let other = Device(new)
        _ = try await other.login()
        let there = try await Realm(configuration: other.configuration(), downloadBeforeOpen: .once)
        try await there.asyncWrite { _ = there.dynamicCreate("Task", value: ["_id": "there"]) }
        try await there.syncSession?.wait(for: .upload)
        let folder = Folder()
        let app = Device.launch(
            folder.url,
            AppConfiguration(
                baseURL: before,
                transport: Servers(known: [before, new.baseURL], stub: StubTransport(server: old))))
        app.syncManager.callbackQueue = DispatchQueue(label: "test.callbacks")
        let user = try await app.login(credentials: .emailPassword(email: "a", password: "b"))
        var configuration = user.configuration(partitionValue: "p")
        configuration.dynamicSchema = Device.schema
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "uploaded"]) }
        try await realm.syncSession?.wait(for: .upload)
        try await old.stop()
        old.dropConnections()
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "here"]) }

        await #expect(throws: AppError.self) { try await app.updateBaseUrl(to: "http://127.0.0.1:1") }
        expectEqual(app.baseURL, before)
        // Where it waits to try again, it does not wait on.
        try await app.updateBaseUrl(to: new.baseURL + "/")
        expectEqual(app.baseURL, new.baseURL)
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(new.taskCount, 2)
        expectEqual(realm.titles().keys.sorted(), ["here", "there"])
        // Nothing of the old server is left to go back to.
        _ = try await user.refreshCustomData()
        expectEqual(app.core.http.knownLocation.location.hostname, new.baseURL)
    }

    /// A question to the old server that is answered late does not lead back there.
    @Test func anAnswerOfTheOldServerThatComesLateDoesNotCount() async throws {
        let gate = Gate()
        let client = AppServicesClient(
            appID: "test", configuration: AppConfiguration(baseURL: "http://old", transport: gate),
            settings: SyncManager(timeoutOptions: nil))
        let late = Task { try await client.refreshLocation() }
        await gate.waitForOld()
        try await client.move(to: "http://new")
        gate.letOldAnswer()
        _ = try await late.value
        expectEqual(client.knownLocation.location.hostname, "http://new")
    }

    /// The old server answers only when it is let.
    private final class Gate: NetworkTransport {
        private let (asked, askedContinuation) = AsyncStream.makeStream(of: Void.self)
        private let (open, openContinuation) = AsyncStream.makeStream(of: Void.self)

        func waitForOld() async { for await _ in asked { return } }
        func letOldAnswer() { openContinuation.finish() }

        func send(_ request: NetworkRequest) async throws -> NetworkResponse {
            if request.url.hasPrefix("http://old") {
                askedContinuation.finish()
                for await _ in open {}
            }
            let text = #"{"deployment_model":"LOCAL","location":"x","hostname":"","ws_hostname":""}"#
            return NetworkResponse(
                status: 200, headers: ["content-type": "application/json"], body: Data(text.utf8))
        }
    }
}
