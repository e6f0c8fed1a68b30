import Foundation
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Calls of an account that the HTTP API answers: functions, links, passwords.
@Suite(.hangGuard)
struct AccountTests {
    /// Answers like a server, and notes what it was asked.
    private final class Recorder: NetworkTransport {
        let requests = Mutex<[NetworkRequest]>([])
        let stub = StubTransport(baseURL: "http://localhost:1")
        let isLinked = Mutex(false)
        /// Whether users are anonymous until they are linked.
        let isAnonymous = Mutex(false)
        /// An access token that the server takes for expired.
        let expired = Mutex<String?>(nil)

        func count(_ ending: String) -> Int {
            requests.withLock { $0.count { $0.url.hasSuffix(ending) } }
        }

        func request(_ ending: String) -> NetworkRequest? {
            requests.withLock { $0.last { $0.url.hasSuffix(ending) } }
        }

        func send(_ request: NetworkRequest) async throws -> NetworkResponse {
            requests.withLock { $0.append(request) }
            // The stub's refresh tokens are the same texts.
            if let expired = expired.withLock({ $0 }), request.headers["Authorization"] == "Bearer \(expired)",
                !request.url.hasSuffix("/auth/session")
            {
                return answer(#"{"error":"invalid session","error_code":"InvalidSession"}"#, status: 401)
            }
            if request.url.hasSuffix("?link=true"), String(decoding: request.body, as: UTF8.self).contains("wrong") {
                return answer(#"{"error":"invalid username/password","error_code":"InvalidPassword"}"#, status: 401)
            }
            if request.url.hasSuffix("?link=true") { isLinked.withLock { $0 = true } }
            if request.url.hasSuffix("/functions/call") {
                let body = String(decoding: request.body, as: UTF8.self)
                return body.contains("nothing")
                    ? answer("") : answer(#"{"sum":{"$numberInt":"3"},"at":{"$date":{"$numberLong":"1500"}}}"#)
            }
            if request.url.hasSuffix("/auth/profile"), isLinked.withLock({ $0 }) {
                return answer(
                    #"{"identities":[{"id":"1","provider_type":"anon-user"},{"id":"2","provider_type":"custom-token"}],"data":{}}"#
                )
            }
            if request.url.hasSuffix("/auth/profile"), isAnonymous.withLock({ $0 }) {
                return answer(#"{"identities":[{"id":"1","provider_type":"anon-user"}],"data":{}}"#)
            }
            return try await stub.send(request)
        }

        private func answer(_ text: String, status: Int = 200) -> NetworkResponse {
            let type = status == 200 ? "application/json;charset=utf-8" : "application/json"
            return NetworkResponse(status: status, headers: ["content-type": type], body: Data(text.utf8))
        }
    }

    private let recorder = Recorder()
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("account-\(UUID().uuidString)")
    private let app: App

    init() {
        app = Device.launch(folder, AppConfiguration(baseURL: "http://localhost:1", transport: recorder))
        app.syncManager.callbackQueue = DispatchQueue(label: "test.callbacks")
    }

    private func user() async throws -> User { try await app.login(credentials: .anonymous) }

    private func body(_ ending: String) throws -> [String: JSONValue] {
        let request = try #require(recorder.request(ending))
        return try #require(try JSONParser.parse(String(decoding: request.body, as: UTF8.self)).objectValue)
    }

    @Test func functionsAreCalledByName() async throws {
        let user = try await user()
        let uuid = try #require(UUID(uuidString: "F47AC10B-58CC-4372-A567-0E02B2C3D479"))
        let result = try await user.functions.addUp([1, .int32(2), .double(0.5), .uuid(uuid), .document(["a": nil])])
        expectEqual(result.documentValue?["sum"], .int32(3))
        expectEqual(result.documentValue?["at"], .datetime(Date(timeIntervalSince1970: 1.5)))
        let arguments: [JSONValue] = [
            .object(["$numberLong": .string("1")]), .object(["$numberInt": .string("2")]),
            .object(["$numberDouble": .string("0.5")]),
            .object(["$binary": .object(["base64": .string("9HrBC1jMQ3KlZw4CssPUeQ=="), "subType": .string("04")])]),
            .object(["a": .null]),
        ]
        try expectEqual(body("/functions/call"), ["name": .string("addUp"), "arguments": .array(arguments)])
        expectEqual(recorder.request("/functions/call")?.headers["Authorization"], "Bearer \(user.accessToken ?? "")")
        await #expect(throws: AppError.self) { try await user.functions.nothing([]) }
        let called = try await withCheckedThrowingContinuation { continuation in
            user.functions.addUp([]) { continuation.resume(with: $0) }
        }
        expectEqual(called, result)
    }

    @Test func completionsNeedNoNames() async throws {
        let user = try await user()
        let data = try await withCheckedThrowingContinuation { continuation in
            let completion: @Sendable (Result<Document, any Error>) -> Void = { continuation.resume(with: $0) }
            user.refreshCustomData(completion)
        }
        expectTrue(data.isEmpty)
        let error: any Error = try await withCheckedThrowingContinuation { continuation in
            let completion: @Sendable (Result<User, any Error>) -> Void = { result in
                if case .failure(let error) = result { continuation.resume(returning: error) }
            }
            user.linkUser(credentials: .anonymous, completion)
        }
        expectTrue(error is AppError)
    }

    @Test func valuesComeBackAsTheyWere() throws {
        let values: [AnyBSON] = [
            .null, .bool(true), .string("x"), .int32(-1), .int64(1 << 40), .double(.infinity), .double(-0.25),
            .decimal128("1.50"), .objectId(ObjectId()), .uuid(UUID()), .binary(Data([1, 2])), .minKey, .maxKey,
            .datetime(Date(timeIntervalSince1970: -1.25)), .array([1, .null]), .document(["a": .array(["b"])]),
        ]
        for value in values {
            let text = JSONWriter.text(of: value.extendedJSON)
            expectEqual(AnyBSON(extendedJSON: try JSONParser.parse(text)), value, "\(text)")
        }
    }

    @Test func aLinkAddsAnIdentity() async throws {
        let user = try await user()
        try await expectEqual(user.linkUser(credentials: .jwt(token: "a.b.c")), user)
        expectEqual(user.identities.map(\.providerType).last, "custom-token")
        try expectEqual(body("/auth/providers/custom-token/login?link=true")["token"], .string("a.b.c"))
        await #expect(throws: AppError.self) { try await user.linkUser(credentials: .anonymous) }
        AppCore.forget(app.core)
        let next = Device.launch(folder, AppConfiguration(baseURL: "http://localhost:1", transport: recorder))
        expectEqual(next.currentUser?.identities.count, 2)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func anonymousLoginsAtOnceGiveOneUser() async throws {
        recorder.isAnonymous.withLock { $0 = true }
        recorder.stub.isOffline = true
        await #expect(throws: AppError.self) { try await app.login(credentials: .anonymous) }
        recorder.stub.isOffline = false
        let before = recorder.count("/anon-user/login")
        let users = try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<10 { group.addTask { [app] in try await app.login(credentials: .anonymous) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expectTrue(users.count == 10 && users.allSatisfy { $0 === app.currentUser })
        try await expectEqual(app.login(credentials: .anonymous), users[0])
        expectEqual(recorder.count("/anon-user/login"), before + 1)
    }

    @Test func aCallWithAnExpiredTokenIsRepeatedOnceWithANewOne() async throws {
        let user = try await user()
        // What the stub makes for a token in the same second is the same.
        recorder.stub.serverLead = 60
        recorder.expired.withLock { $0 = user.accessToken }
        try await expectEqual(user.linkUser(credentials: .jwt(token: "a.b.c")), user)
        expectTrue(recorder.count("?link=true") == 2 && recorder.count("/auth/session") == 1)
        expectEqual(user.identities.count, 2)
        recorder.stub.serverLead = 120
        recorder.expired.withLock { $0 = user.accessToken }
        _ = try await user.functions.addUp([])
        expectTrue(recorder.count("/functions/call") == 2 && recorder.count("/auth/session") == 2)
        // Wrong credentials are no fault of the token.
        await #expect(throws: AppError.self) {
            try await user.linkUser(credentials: .emailPassword(email: "a@b.c", password: "wrong"))
        }
        expectTrue(recorder.count("?link=true") == 3 && recorder.count("/auth/session") == 2)
    }

    @Test func credentialsSayWhatTheProviderNeeds() async throws {
        _ = try await app.login(credentials: .function(payload: ["badge": 7, "name": "Ada"]))
        var members = try body("/auth/providers/custom-function/login")
        members["options"] = nil
        expectEqual(members, ["badge": .object(["$numberLong": .string("7")]), "name": .string("Ada")])
        _ = try await app.login(credentials: .apple(idToken: "t"))
        try expectEqual(body("/auth/providers/oauth2-apple/login")["id_token"], .string("t"))
        _ = try await app.login(credentials: .google(serverAuthCode: "c"))
        try expectEqual(body("/auth/providers/oauth2-google/login")["authCode"], .string("c"))
    }

    @Test func theAppsFunctionResetsAPassword() async throws {
        let auth = app.emailPasswordAuth
        let error = await withCheckedContinuation { continuation in
            auth.callResetPasswordFunction(email: "a@b.c", password: "new", args: ["why"]) {
                continuation.resume(returning: $0)
            }
        }
        expectTrue(error == nil)
        let expected: [String: JSONValue] = [
            "email": .string("a@b.c"), "password": .string("new"), "arguments": .array([.string("why")]),
        ]
        try expectEqual(body("/auth/providers/local-userpass/reset/call"), expected)
    }

    @Test func anAppTellsOfItsUsers() async throws {
        let heard = Mutex<[String]>([])
        let token = app.subscribe { app in heard.withLock { $0.append(app.currentUser?.id ?? "nobody") } }
        let first = try await app.login(credentials: .emailPassword(email: "first@example.test", password: "x"))
        let second = try await app.login(credentials: .emailPassword(email: "second@example.test", password: "x"))
        await expectTrue(eventually { heard.withLock { $0.last } == second.id })
        app.switch(to: first)
        await expectTrue(eventually { heard.withLock { $0.last } == first.id })
        try await first.logOut()
        try await second.remove()
        await expectTrue(eventually { heard.withLock { $0.last } == "nobody" })
        token.unsubscribe()
        app.syncManager.callbackQueue.sync {}
        let count = heard.withLock { $0.count }
        _ = try await user()
        app.syncManager.callbackQueue.sync {}
        expectEqual(heard.withLock { $0.count }, count)
    }

    @Test func requestsSayWhatProgramTheyComeFrom() async throws {
        func agent() -> String? { recorder.requests.withLock { $0.last?.headers["User-Agent"] } }
        let user = try await user()
        expectEqual(agent()?.hasPrefix("RealmSync/"), true)
        expectEqual(agent()?.hasSuffix(" \(ProcessInfo.processInfo.processName)"), true)
        app.syncManager.userAgent = "tasks/1.0 (ö)"
        _ = try await user.refreshCustomData()
        expectEqual(agent()?.hasSuffix(" tasks/1.0 (?)"), true)
        app.syncManager.customRequestHeaders = ["user-agent": "mine"]
        _ = try await user.refreshCustomData()
        expectTrue(agent() == nil)
        expectEqual(recorder.requests.withLock { $0.last?.headers["user-agent"] }, "mine")
    }

    @Test func theTokensHeaderCanHaveAnotherName() async throws {
        app.syncManager.authorizationHeaderName = "X-Token"
        let user = try await user()
        _ = try await user.refreshCustomData()
        let headers = try #require(recorder.request("/auth/session")?.headers)
        expectTrue(headers["X-Token"]?.hasPrefix("Bearer ") == true && headers["Authorization"] == nil)
    }
}
