import Foundation
import Storage
import TestSupport
import Testing

@testable import Gateway

@Suite(.hangGuard)
struct AccountEndpointTests {
    private static let userpass = "\(GatewayHarness.app)/auth/providers/local-userpass"

    @Test func locationNamesTheOriginForBothSchemes() async throws {
        try await GatewayHarness.with(configure: { $0.publicURL = "https://sync.example.net" }) { gateway in
            let answer = try await gateway.request("GET", "\(GatewayHarness.app)/location")
            expectEqual(answer.status, 200)
            expectEqual(answer.string("hostname"), "https://sync.example.net")
            expectEqual(answer.string("ws_hostname"), "wss://sync.example.net")
            expectTrue(answer.string("deployment_model") != nil)
            expectTrue(answer.string("location") != nil)
        }
    }

    @Test func doubledSlashesInThePathAreTolerated() async throws {
        try await GatewayHarness.with { gateway in
            let answer = try await gateway.request("GET", "/\(GatewayHarness.app)/location")
            expectEqual(answer.status, 200)
        }
    }

    @Test func unknownAppsAndPathsAre404WithTheErrorBody() async throws {
        try await GatewayHarness.with { gateway in
            for path in ["/api/client/v2.0/app/nothing/location", "/api/client/v2.0/nowhere"] {
                let answer = try await gateway.request("GET", path)
                expectEqual(answer.status, 404)
                expectEqual(answer.contentTypes, ["application/json"])
                expectTrue(answer.string("error") != nil)
                expectEqual(answer.string("link")?.hasPrefix(gateway.base), true)
            }
        }
    }

    @Test func otherMethodsAre405AndHeadHasNoBody() async throws {
        try await GatewayHarness.with { gateway in
            let put = try await gateway.request("PUT", "\(GatewayHarness.app)/location")
            expectTrue(put.status == 405 && put.headers["allow"] == "GET, HEAD")
            expectEqual(put.string("error_code"), "MethodNotAllowed")
            let trace = try await gateway.request("TRACE", "\(GatewayHarness.app)/location")
            expectEqual(trace.status, 405)
            let get = try await gateway.request("GET", "\(GatewayHarness.auth)/session")
            expectTrue(get.status == 405 && get.headers["allow"] == "DELETE, POST")
            let head = try await gateway.request("HEAD", "\(GatewayHarness.app)/location")
            expectTrue(head.status == 200 && head.body.isEmpty)
            let nowhere = try await gateway.request("HEAD", "/api/client/v2.0/nowhere")
            expectTrue(nowhere.status == 404 && nowhere.body.isEmpty)
        }
    }

    @Test func anonymousLoginGivesTokensThatOpenTheProfile() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            expectEqual(tokens.user.count, 24)
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.access)
            expectEqual(profile.status, 200)
            expectEqual(profile.string("user_id"), tokens.user)
            expectTrue(profile.body.contains(#""provider_type":"anon-user""#))
            expectTrue(profile.body.contains(#""data":{}"#))
            expectEqual(profile.headers["cache-control"], "no-store")
        }
    }

    @Test func tokensAreJWTsWithIntegerTimes() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            for token in [tokens.access, tokens.refresh] {
                let parts = token.split(separator: ".", omittingEmptySubsequences: false)
                expectEqual(parts.count, 3)
                var base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
                base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
                let payload = try #require(Data(base64Encoded: base64))
                let text = String(decoding: payload, as: UTF8.self)
                expectTrue(text.contains(/"exp":\d+[,}]/))
                expectTrue(text.contains(/"iat":\d+[,}]/))
                expectTrue(!text.contains("user_data"))
            }
        }
    }

    @Test func aRegisteredUserLogsInAndKeepsItsID() async throws {
        try await GatewayHarness.with { gateway in
            let registered = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"Ann@example.net","password":"secret-1"}"#)
            expectEqual(registered.status, 201)
            var users: Set<String> = []
            for name in ["ann@example.net", "ANN@example.net"] {
                let login = try await gateway.request(
                    "POST", "\(Self.userpass)/login", body: #"{"username":"\#(name)","password":"secret-1"}"#)
                expectEqual(login.status, 200)
                users.insert(login.string("user_id") ?? "")
                let profile = try await gateway.request(
                    "GET", "\(GatewayHarness.auth)/profile", bearer: login.string("access_token"))
                // As it was registered; whoever logs in may spell it otherwise.
                expectTrue(profile.body.contains(#""email":"Ann@example.net""#))
            }
            expectEqual(users.count, 1)
        }
    }

    /// Three characters at least, as the description of the API has it: two may have five bytes.
    @Test(arguments: ["ab", "\u{84}\u{1D71}", "a\u{0}c"]) func whatCannotBeAnAddressIsRefused(
        _ address: String
    ) async throws {
        try await GatewayHarness.with { gateway in
            let body = try JSONEncoder().encode(["email": address, "password": "secret-1"])
            let answer = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: String(decoding: body, as: UTF8.self))
            expectEqual(answer.status, 400)
            expectEqual(answer.string("error"), "invalid e-mail address")
        }
    }

    @Test func aTakenAddressIsRefused() async throws {
        try await GatewayHarness.with { gateway in
            let body = #"{"email":"a@example.net","password":"secret-1"}"#
            _ = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
            let again = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: body.replacing("a@example", with: "A@Example"))
            expectEqual(again.status, 409)
            expectEqual(again.string("error_code"), "AccountNameInUse")
            expectEqual(again.string("error"), "name already in use")
            expectEqual(again.string("link")?.hasPrefix(gateway.base), true)
        }
    }

    @Test func wrongPasswordAndUnknownAccountReadTheSame() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"a@example.net","password":"secret-1"}"#)
            for body in [
                #"{"username":"a@example.net","password":"secret-2"}"#,
                #"{"username":"b@example.net","password":"secret-1"}"#,
            ] {
                let answer = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
                expectEqual(answer.status, 401)
                expectEqual(answer.contentTypes, ["application/json"])
                expectEqual(answer.string("error_code"), "InvalidPassword")
                expectEqual(answer.string("error"), "invalid username/password")
            }
        }
    }

    @Test func aDisabledUserCannotLogInNorRefresh() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"a@example.net","password":"secret-1"}"#)
            let credentials = #"{"username":"a@example.net","password":"secret-1"}"#
            let login = try await gateway.request("POST", "\(Self.userpass)/login", body: credentials)
            let user = try #require(login.string("user_id"))
            try await gateway.store.setDisabled(true, app: "tasks", user: user)
            let again = try await gateway.request("POST", "\(Self.userpass)/login", body: credentials)
            expectEqual(again.status, 401)
            expectEqual(again.string("error_code"), "UserDisabled")
            let refresh = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: login.string("refresh_token"))
            expectEqual(refresh.status, 401)
            expectEqual(refresh.string("error_code"), "InvalidSession")
        }
    }

    @Test func oneRefreshTokenServesManyParallelRefreshes() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await withThrowingTaskGroup(of: UInt.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
                            .status
                    }
                }
                for try await status in group { expectEqual(status, 200) }
            }
        }
    }

    @Test func eachEndpointTakesItsKindOfTokenOnly() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.refresh)
            expectEqual(profile.status, 401)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.access)
            expectEqual(refresh.status, 401)
        }
    }

    @Test func anEmptyBearerIsNone() async throws {
        try await GatewayHarness.with { gateway in
            for bearer in [nil, "", " "] {
                let answer = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: bearer)
                expectEqual(answer.status, 401)
                expectEqual(answer.string("error"), "must authenticate first")
            }
        }
    }

    @Test func logoutRevokesTheLogin() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let logout = try await gateway.request("DELETE", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            expectEqual(logout.status, 204)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            expectEqual(refresh.status, 401)
            expectEqual(refresh.string("error"), "invalid session")
        }
    }

    @Test func aUserThatDeletesItselfIsGone() async throws {
        try await GatewayHarness.with { gateway in
            let body = #"{"email":"a@example.net","username":"a@example.net","password":"secret-1"}"#
            _ = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
            let login = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            let user = try #require(login.string("user_id"))
            let (access, refresh) = (login.string("access_token"), login.string("refresh_token"))
            try await expectEqual(
                gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: refresh).status, 401)
            try await expectEqual(
                gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: access).status, 204)
            try await expectTrue(gateway.store.user(app: "tasks", id: user) == nil)
            try await expectEqual(
                gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: access).status, 401)
            try await expectEqual(
                gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: refresh).status, 401)
            let again = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            expectTrue(again.status == 401 && again.string("error_code") == "InvalidPassword")
            // The address is free again.
            try await expectEqual(gateway.request("POST", "\(Self.userpass)/register", body: body).status, 201)
        }
    }

    @Test func anAccessTokenEndsAfterHalfAnHour() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            gateway.clock.advance(by: .seconds(1800 + 61))
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.access)
            expectEqual(profile.status, 401)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            expectEqual(refresh.status, 200)
        }
    }

    /// What a client reads of a token.
    private static func claims(_ token: String?) throws -> [String: Any] {
        let parts = try #require(token).split(separator: ".", omittingEmptySubsequences: false)
        var base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        let payload = try #require(Data(base64Encoded: base64))
        return try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
    }

    @Test func customDataReachTheClientWithItsTokens() async throws {
        try await GatewayHarness.with { gateway in
            let body = #"{"email":"a@example.net","username":"a@example.net","password":"secret-1"}"#
            _ = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
            let first = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            let user = try #require(first.string("user_id"))
            try expectTrue(Self.claims(first.string("access_token"))["user_data"] == nil)
            let without = try await gateway.request(
                "GET", "\(GatewayHarness.auth)/profile", bearer: first.string("access_token"))
            expectTrue(without.status == 200 && without.json["custom_data"] == nil)

            try await gateway.store.setCustomData(
                #"{"team":"red","n":{"$numberLong":"5"}}"#, app: "tasks", user: user)
            // A login and a refresh bring what there is by then.
            let login = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            let refresh = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: first.string("refresh_token"))
            for answer in [login, refresh] {
                let data = try Self.claims(answer.string("access_token"))["user_data"] as? [String: Any]
                expectTrue(
                    data?["team"] as? String == "red" && (data?["n"] as? [String: String]) == ["$numberLong": "5"])
            }
            try expectTrue(Self.claims(login.string("refresh_token"))["user_data"] == nil)
            let profile = try await gateway.request(
                "GET", "\(GatewayHarness.auth)/profile", bearer: refresh.string("access_token"))
            expectTrue(profile.body.contains(#""custom_data":{"n":{"$numberLong":"5"},"team":"red"}"#))
        }
    }

    /// The token travels in the URL of each socket, and one that is too long would be refused there for ever.
    @Test func muchCustomDataIsInTheProfileAlone() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            // Slashes and control characters take more in a token.
            for text in [String(repeating: "/", count: 4_000), String(repeating: "x", count: 5_000)] {
                try await gateway.store.setCustomData(#"{"a":"\#(text)"}"#, app: "tasks", user: tokens.user)
                let refresh = try await gateway.request(
                    "POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
                let access = try #require(refresh.string("access_token"))
                try expectTrue(Self.claims(access)["user_data"] == nil)
                let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: access)
                expectTrue(profile.status == 200 && profile.body.contains(text))
            }
            try await gateway.store.setCustomData(
                #"{"a":"\#(String(repeating: "é", count: 2_000))"}"#, app: "tasks", user: tokens.user)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            let access = try #require(refresh.string("access_token"))
            try expectTrue(Self.claims(access)["user_data"] != nil)
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: access)
            expectEqual(profile.status, 200)
        }
    }

    /// What remembered settings refuse may have been allowed a moment ago, and clients take such answers for final.
    @Test func settingsThatAreRememberedRefuseNobody() async throws {
        try await GatewayHarness.with(configure: { $0.timings.appCache = .seconds(600) }) { gateway in
            let unknown = "/api/client/v2.0/app/later/location"
            try await expectEqual(gateway.request("GET", unknown).status, 404)
            try await gateway.store.insert(AppRecord(id: "later", createdAt: 1))
            try await expectEqual(gateway.request("GET", unknown).status, 200)
            _ = try await gateway.store.updateApp("tasks") {
                $0.anonymousLogin = false
                $0.emailPasswordLogin = false
            }
            let anonymous = "\(GatewayHarness.app)/auth/providers/anon-user/login"
            let body = #"{"email":"a@example.net","username":"a@example.net","password":"secret-1"}"#
            try await expectEqual(gateway.request("POST", anonymous, body: "{}").status, 404)
            try await expectEqual(gateway.request("POST", "\(Self.userpass)/register", body: body).status, 404)
            _ = try await gateway.store.updateApp("tasks") {
                $0.anonymousLogin = true
                $0.emailPasswordLogin = true
            }
            try await expectEqual(gateway.request("POST", anonymous, body: "{}").status, 200)
            try await expectEqual(gateway.request("POST", "\(Self.userpass)/register", body: body).status, 201)
            try await expectEqual(gateway.request("POST", "\(Self.userpass)/login", body: body).status, 200)
        }
    }

    @Test func hostileBodiesAreRefusedAndNothingElseHappens() async throws {
        try await GatewayHarness.with { gateway in
            for body in ["", "{", "[]", #"{"email":1,"password":2}"#, #"{"email":"a b@x","password":"secret-1"}"#] {
                let answer = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
                expectEqual(answer.status, 400)
                expectEqual(answer.contentTypes, ["application/json"])
            }
            let large = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: String(repeating: "x", count: 100_000))
            expectEqual(large.status, 413)
            let answer = try await gateway.request("GET", "\(GatewayHarness.app)/location")
            expectEqual(answer.status, 200)
        }
    }

    @Test func providersThatAreOffAreNotFound() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.store.updateApp("tasks") { $0.anonymousLogin = false }
            let off = try await gateway.request(
                "POST", "\(GatewayHarness.app)/auth/providers/anon-user/login", body: "{}")
            expectEqual(off.status, 404)
            expectEqual(off.string("error_code"), "AuthProviderNotFound")
            let unknown = try await gateway.request(
                "POST", "\(GatewayHarness.app)/auth/providers/abc/login", body: "{}")
            expectEqual(unknown.status, 404)
        }
    }

    @Test func passwordsAreStoredAsScryptAndRehashedWhenTheCostChanges() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"a@example.net","password":"secret-1"}"#)
            let first = try #require(try await gateway.store.password(app: "tasks", email: "a@example.net"))
            expectTrue(first.passwordHash.hasPrefix("$scrypt$ln=8,"))
            expectTrue(!first.passwordHash.contains("secret"))
            try await GatewayHarness.with(store: gateway.store, configure: { $0.passwords.logN = 9 }) { other in
                let login = try await other.request(
                    "POST", "\(Self.userpass)/login", body: #"{"username":"a@example.net","password":"secret-1"}"#)
                expectEqual(login.status, 200)
            }
            let second = try #require(try await gateway.store.password(app: "tasks", email: "a@example.net"))
            expectTrue(second.passwordHash.hasPrefix("$scrypt$ln=9,"))
        }
    }
}
