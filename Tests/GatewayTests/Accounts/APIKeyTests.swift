import Foundation
import Storage
import TestSupport
import Testing

@testable import Gateway

/// Keys of users for programs, over HTTP.
@Suite(.hangGuard) struct APIKeyTests {
    private static let keys = "\(GatewayHarness.auth)/api_keys"
    private static let login = "\(GatewayHarness.app)/auth/providers/api-key/login"

    private static func with(_ body: @Sendable @escaping (GatewayHarness) async throws -> Void) async throws {
        try await GatewayHarness.with { gateway in
            try await gateway.store.setLoginSettings(Data("{}".utf8), app: "tasks", provider: "api-key")
            try await body(gateway)
        }
    }

    private static func logIn(_ gateway: GatewayHarness, _ key: String) async throws -> HTTPAnswer {
        try await gateway.request("POST", login, body: #"{"provider":"api-key","key":"\#(key)"}"#)
    }

    @Test func aKeyLogsItsUserInUntilItIsDisabledOrDeleted() async throws {
        try await Self.with { gateway in
            let tokens = try await gateway.logInByPassword()
            let made = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            expectTrue(made.status == 201 && made.string("name") == "ci" && made.headers["cache-control"] == "no-store")
            expectTrue(made.json["disabled"] as? Bool == false)
            let (id, key) = (try #require(made.string("_id")), try #require(made.string("key")))
            expectTrue(id.count == 24 && key.count == 64)

            let login = try await Self.logIn(gateway, key)
            expectTrue(login.status == 200 && login.string("user_id") == tokens.user)
            // Rules tell the program from the user, also once its token was renewed.
            let profile = "\(GatewayHarness.auth)/profile"
            try await expectEqual(gateway.request("GET", profile, bearer: tokens.access).string("type"), "normal")
            let access = try #require(login.string("access_token"))
            try await expectEqual(gateway.request("GET", profile, bearer: access).string("type"), "server")
            let renewed = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: login.string("refresh_token"))
            let claims = try await gateway.request(
                "GET", profile, bearer: renewed.string("access_token"))
            expectEqual(claims.string("type"), "server")
            let listed = try await gateway.request("GET", Self.keys, bearer: tokens.refresh)
            expectTrue(listed.status == 200 && listed.body.contains(id) && !listed.body.contains(key))
            let one = try await gateway.request("GET", "\(Self.keys)/\(id)", bearer: tokens.refresh)
            expectTrue(one.string("_id") == id && one.string("key") == nil)

            for (change, status) in [("disable", UInt(401)), ("enable", 200)] {
                let answer = try await gateway.request("PUT", "\(Self.keys)/\(id)/\(change)", bearer: tokens.refresh)
                expectEqual(answer.status, 204)
                try await expectEqual(Self.logIn(gateway, key).status, status)
            }
            try await expectEqual(gateway.request("DELETE", "\(Self.keys)/\(id)", bearer: tokens.refresh).status, 204)
            let gone = try await Self.logIn(gateway, key)
            expectTrue(gone.status == 401 && gone.string("error_code") == "AuthError")
        }
    }

    @Test func anonymousUsersHaveNone() async throws {
        try await Self.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let made = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            expectTrue(made.status == 403 && made.string("error_code") == "AuthError")
            for (method, path) in [
                ("GET", ""), ("GET", "/a"), ("DELETE", "/a"), ("PUT", "/a/enable"), ("PUT", "/a/disable"),
            ] {
                let answer = try await gateway.request(method, Self.keys + path, bearer: tokens.refresh)
                expectTrue(answer.status == 403 && answer.string("error_code") == "AuthError", "\(method) \(path)")
            }
            try await expectTrue(gateway.store.apiKeys(app: "tasks", user: tokens.user).isEmpty)
            // Once they are somebody they do.
            try await gateway.registerByPassword()
            _ = try await gateway.request(
                "POST", "\(GatewayHarness.app)/auth/providers/local-userpass/login?link=true",
                body: #"{"username":"ann@example.net","password":"a-secret"}"#, bearer: tokens.access)
            let later = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            expectEqual(later.status, 201)
        }
    }

    @Test func othersKeysAreNotFound() async throws {
        try await Self.with { gateway in
            let owner = try await gateway.logInByPassword()
            let stranger = try await gateway.logInByPassword("bob@example.net")
            let made = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: owner.refresh)
            let id = try #require(made.string("_id"))
            for (method, path) in [
                ("GET", id), ("PUT", "\(id)/disable"), ("PUT", "\(id)/enable"), ("DELETE", id), ("GET", "nothing"),
            ] {
                let answer = try await gateway.request(method, "\(Self.keys)/\(path)", bearer: stranger.refresh)
                expectTrue(answer.status == 404 && answer.string("error_code") == "APIKeyNotFound", "\(method) \(path)")
            }
            // Only tokens cost a client its login.
            try await expectEqual(gateway.request("GET", Self.keys, bearer: owner.access).status, 401)
            try await expectEqual(gateway.request("GET", Self.keys, bearer: nil).status, 401)
        }
    }

    @Test func invalidNamesDuplicatesAndKeysAreRefused() async throws {
        try await Self.with { gateway in
            let tokens = try await gateway.logInByPassword()
            for body in [
                "", "{}", #"{"name":""}"#, #"{"name":1}"#, #"{"name":"\#(String(repeating: "x", count: 65))"}"#,
            ] {
                let answer = try await gateway.request("POST", Self.keys, body: body, bearer: tokens.refresh)
                expectEqual(answer.status, 400, "\(body)")
            }
            _ = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            let again = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            expectTrue(again.status == 409 && again.string("error_code") == "APIKeyAlreadyExists")
            for key in ["", "wrong", String(repeating: "x", count: 1000)] {
                try await expectEqual(Self.logIn(gateway, key).status, 401)
            }
        }
    }

    @Test func nobodyUsesKeysWhereTheyAreOffAndDisabledUsersDoNot() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInByPassword()
            let off = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            expectTrue(off.status == 404 && off.string("error_code") == "AuthProviderNotFound")
            try await gateway.store.setLoginSettings(Data("{}".utf8), app: "tasks", provider: "api-key")
            let made = try await gateway.request("POST", Self.keys, body: #"{"name":"ci"}"#, bearer: tokens.refresh)
            let key = try #require(made.string("key"))
            try await gateway.store.setLoginSettings(nil, app: "tasks", provider: "api-key")
            try await expectEqual(Self.logIn(gateway, key).status, 404)
            try await gateway.store.setLoginSettings(Data("{}".utf8), app: "tasks", provider: "api-key")
            try await gateway.store.setDisabled(true, app: "tasks", user: tokens.user)
            let disabled = try await Self.logIn(gateway, key)
            expectTrue(disabled.status == 401 && disabled.string("error_code") == "UserDisabled")
        }
    }

    @Test func keysCannotBeTriedWithoutEnd() async throws {
        try await GatewayHarness.with(configure: {
            $0.limits.failedLogins.address = .init(burst: 2, perMinute: 0)
        }) { gateway in
            try await gateway.store.setLoginSettings(Data("{}".utf8), app: "tasks", provider: "api-key")
            for _ in 0..<2 { try await expectEqual(Self.logIn(gateway, "wrong").status, 401) }
            try await expectEqual(Self.logIn(gateway, "wrong").status, 429)
        }
    }
}
