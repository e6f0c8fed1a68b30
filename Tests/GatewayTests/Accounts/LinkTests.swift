import Foundation
import Storage
import StorageSupport
import TestSupport
import Testing

@testable import Gateway

/// Users that log in in further ways: `login?link=true`.
@Suite(.hangGuard) struct LinkTests {
    private static let userpass = "\(GatewayHarness.app)/auth/providers/local-userpass"
    private static let credentials = #"{"username":"ann@example.net","password":"a-secret"}"#

    private static func register(_ gateway: GatewayHarness) async throws {
        let answer = try await gateway.request(
            "POST", "\(userpass)/register", body: #"{"email":"ann@example.net","password":"a-secret"}"#)
        expectEqual(answer.status, 201)
    }

    @Test func anAnonymousUserKeepsItsIdWithAPassword() async throws {
        try await GatewayHarness.with { gateway in
            try await Self.register(gateway)
            let anonymous = try await gateway.logInAnonymously()
            let linked = try await gateway.request(
                "POST", "\(Self.userpass)/login?link=true", body: Self.credentials, bearer: anonymous.access)
            expectTrue(linked.status == 200 && linked.string("user_id") == anonymous.user)
            let access = try #require(linked.string("access_token"))
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: access)
            expectTrue(profile.body.contains(#""provider_type":"anon-user"},{"#))
            expectTrue(profile.body.contains(#""data":{"email":"ann@example.net"}"#))
            let later = try await gateway.request("POST", "\(Self.userpass)/login", body: Self.credentials)
            expectEqual(later.string("user_id"), anonymous.user)
        }
    }

    @Test func anotherUsersAccountIsNotLinked() async throws {
        try await GatewayHarness.with { gateway in
            try await Self.register(gateway)
            let owner = try await gateway.request("POST", "\(Self.userpass)/login", body: Self.credentials)
            let anonymous = try await gateway.logInAnonymously()
            let taken = try await gateway.request(
                "POST", "\(Self.userpass)/login?link=true", body: Self.credentials, bearer: anonymous.access)
            expectTrue(taken.status == 400 && taken.string("error_code") == "AuthError")
            let again = try await gateway.request("POST", "\(Self.userpass)/login", body: Self.credentials)
            expectEqual(again.string("user_id"), owner.string("user_id"))
        }
    }

    @Test func linkingNeedsTheUsersTokenAndTheRightPassword() async throws {
        try await GatewayHarness.with { gateway in
            try await Self.register(gateway)
            try await gateway.store.insert(AppRecord(id: "other", createdAt: 1), rules: TestRules.open)
            let anonymous = try await gateway.logInAnonymously()
            let stranger = try await gateway.logInAnonymously(app: "other")
            let path = "\(Self.userpass)/login?link=true"
            for (bearer, status) in [("", 401), (anonymous.refresh, 401), (stranger.access, 403)] {
                let answer = try await gateway.request("POST", path, body: Self.credentials, bearer: bearer)
                expectTrue(answer.status == status)
            }
            let wrong = try await gateway.request(
                "POST", path, body: #"{"username":"ann@example.net","password":"no-secret"}"#, bearer: anonymous.access)
            expectTrue(wrong.status == 401 && wrong.string("error_code") == "InvalidPassword")
            for provider in ["anon-user", "api-key"] {
                let answer = try await gateway.request(
                    "POST", "\(GatewayHarness.app)/auth/providers/\(provider)/login?link=true", body: #"{"key":"a"}"#,
                    bearer: anonymous.access)
                expectTrue(answer.status == 400 && answer.string("error_code") == "AuthError")
            }
            try await expectTrue(gateway.store.password(app: "tasks", email: "ann@example.net")?.userID == nil)
        }
    }
}
