import DeviceSync
import Dispatch
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// What an app does with accounts and servers besides logging in, at a running cluster.
    @MainActor @Suite struct AccountTests {
        /// Calls with completions, one after the other.
        private func called<Value: Sendable>(
            _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
        }

        private func called(_ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                call { error in if let error { continuation.resume(throwing: error) } else { continuation.resume() } }
            }
        }

        @Test(arguments: [false, true])
        func aProgramLogsInWithAKeyForAsLongAsItsUserLetsIt(byCompletions: Bool) async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            try await cluster.operate("logins", "set", id, "api-key")
            let user = try await Phone.user(of: id)
            let app = App(id: id)
            let auth = user.apiKeysAuth

            let key =
                byCompletions
                ? try await called { auth.createAPIKey(named: "ci", completion: $0) }
                : try await auth.createAPIKey(named: "ci")
            let secret = try #require(key.key)
            expectTrue(key.name == "ci" && !key.disabled)
            func login() async throws -> User {
                byCompletions
                    ? try await called { app.login(credentials: .userAPIKey(secret), $0) }
                    : try await app.login(credentials: .userAPIKey(secret))
            }
            try await expectEqual(login().id, user.id)

            if byCompletions {
                try await called { auth.disableAPIKey(key.objectId, completion: $0) }
            } else {
                try await auth.disableAPIKey(key.objectId)
            }
            let error = await #expect(throws: AppError.self) { _ = try await login() }
            expectEqual(error?.httpStatusCode, 401)
            let disabled =
                byCompletions
                ? try await called { auth.fetchAPIKey(key.objectId, completion: $0) }
                : try await auth.fetchAPIKey(key.objectId)
            expectTrue(disabled.disabled && disabled.key == nil && disabled.name == "ci")

            if byCompletions {
                try await called { auth.enableAPIKey(key.objectId, completion: $0) }
            } else {
                try await auth.enableAPIKey(key.objectId)
            }
            try await expectEqual(login().id, user.id)
            let all =
                byCompletions ? try await called { auth.fetchAPIKeys(completion: $0) } : try await auth.fetchAPIKeys()
            expectTrue(all.map(\.objectId) == [key.objectId] && all.allSatisfy { !$0.disabled && $0.key == nil })

            if byCompletions {
                try await called { auth.deleteAPIKey(key.objectId, completion: $0) }
            } else {
                try await auth.deleteAPIKey(key.objectId)
            }
            await #expect(throws: AppError.self) { _ = try await login() }
            await #expect(throws: AppError.self) { _ = try await auth.fetchAPIKey(key.objectId) }
            try await expectTrue(auth.fetchAPIKeys().isEmpty)
        }

        @Test func customDataStoredByOperatorsReachesTheUser() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            let user = try await Phone.user(of: id)
            expectTrue(user.customData.isEmpty)
            try await cluster.operate("users", "custom-data", id, user.id, #"{"team":"red"}"#)
            try await expectEqual(user.refreshCustomData()["team"]??.stringValue, "red")
            expectEqual(user.customData["team"]??.stringValue, "red")
            try await cluster.operate("users", "custom-data", id, user.id, "--clear")
            try await expectTrue(user.refreshCustomData().isEmpty)
        }

        /// The form with a key and an error beside each other.
        @Test func aCompletionMayHaveTheKeyAndTheErrorApart() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            try await cluster.operate("logins", "set", id, "api-key")
            let auth = try await Phone.user(of: id).apiKeysAuth
            let name: String? = await withCheckedContinuation { continuation in
                auth.createAPIKey(named: "ci") { key, error in
                    auth.fetchAPIKeys { keys, other in
                        continuation.resume(
                            returning: error == nil && other == nil && keys?.count == 1 ? key?.name : nil)
                    }
                }
            }
            expectEqual(name, "ci")
            let code: AppError.Code? = await withCheckedContinuation { continuation in
                auth.fetchAPIKey(ObjectId()) { key, error in
                    continuation.resume(returning: key == nil ? (error as? AppError)?.code : nil)
                }
            }
            expectTrue(code != nil)
        }

        /// Both gateways are of one cluster: what the one knew the other knows too.
        @Test func anAppGoesOverToAnotherServer() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            let phone = try await Phone(of: id)
            let app = App(id: id)
            let before = app.baseURL
            try phone.add("before")
            try await phone.upload()
            await #expect(throws: AppError.self) {
                try await app.updateBaseUrl(to: "http://127.0.0.1:\(FreePort.next())")
            }
            expectEqual(app.baseURL, before)

            let port = FreePort.next()
            try await cluster.start("gateway-2", "gateway", "--port", "\(port)")
            try await eventually("the other gateway answers") {
                (try? await app.updateBaseUrl(to: "http://127.0.0.1:\(port)/")) != nil
            }
            expectEqual(app.baseURL, "http://127.0.0.1:\(port)")
            try phone.add("after")
            try await phone.upload()
            try await expectEqual(cluster.metric("sluice_gateway_connections", of: "gateway-2"), 1)
            let other = try await Phone(phone.user, phone.user.configuration(partitionValue: "other"))
            expectTrue(other.ids.isEmpty && phone.ids == ["after", "before"])
            await cluster.stop("gateway-2")
        }

        @Test func theServerKnowsWhatProgramAClientIs() async throws {
            struct StoredRealm: Decodable {
                struct File: Decodable { var userAgent: String }
                var files: [File]
            }
            let id = try await SharedCluster.cluster.newApp()
            let user = try await Phone.user(of: id)
            App(id: id).syncManager.userAgent = "chores 1.2\r\nnot: a header"
            let phone = try await Phone(user, user.configuration(partitionValue: "home"))
            try phone.add("a")
            try await phone.upload()
            let stored = try await SharedCluster.cluster.operateJSON(
                StoredRealm.self, "realms", "show", "--app", id, "--realm", "home")
            let agent = try #require(stored.files.last?.userAgent)
            expectTrue(agent.hasPrefix("RealmSync/") && agent.hasSuffix(" chores 1.2??not: a header"), "\(agent)")
        }
    }
}
