import Foundation
import Storage
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(5)))
struct AccountEndpointTests {
    private static let userpass = "\(GatewayHarness.app)/auth/providers/local-userpass"

    @Test func locationNamesTheOriginForBothSchemes() async throws {
        try await GatewayHarness.with(configure: { $0.publicURL = "https://sync.example.net" }) { gateway in
            let answer = try await gateway.request("GET", "\(GatewayHarness.app)/location")
            #expect(answer.status == 200)
            #expect(answer.string("hostname") == "https://sync.example.net")
            #expect(answer.string("ws_hostname") == "wss://sync.example.net")
            #expect(answer.string("deployment_model") != nil)
            #expect(answer.string("location") != nil)
        }
    }

    @Test func doubledSlashesInThePathAreTolerated() async throws {
        try await GatewayHarness.with { gateway in
            let answer = try await gateway.request("GET", "/\(GatewayHarness.app)/location")
            #expect(answer.status == 200)
        }
    }

    @Test func unknownAppsAndPathsAre404WithTheErrorBody() async throws {
        try await GatewayHarness.with { gateway in
            for path in ["/api/client/v2.0/app/nothing/location", "/api/client/v2.0/nowhere"] {
                let answer = try await gateway.request("GET", path)
                #expect(answer.status == 404)
                #expect(answer.contentTypes == ["application/json"])
                #expect(answer.string("error") != nil)
                #expect(answer.string("link")?.hasPrefix(gateway.base) == true)
            }
        }
    }

    @Test func otherMethodsAre405AndHeadHasNoBody() async throws {
        try await GatewayHarness.with { gateway in
            let put = try await gateway.request("PUT", "\(GatewayHarness.app)/location")
            #expect(put.status == 405 && put.headers["allow"] == "GET, HEAD")
            #expect(put.string("error_code") == "MethodNotAllowed")
            let trace = try await gateway.request("TRACE", "\(GatewayHarness.app)/location")
            #expect(trace.status == 405)
            let get = try await gateway.request("GET", "\(GatewayHarness.auth)/session")
            #expect(get.status == 405 && get.headers["allow"] == "DELETE, POST")
            let head = try await gateway.request("HEAD", "\(GatewayHarness.app)/location")
            #expect(head.status == 200 && head.body.isEmpty)
            let nowhere = try await gateway.request("HEAD", "/api/client/v2.0/nowhere")
            #expect(nowhere.status == 404 && nowhere.body.isEmpty)
        }
    }

    @Test func anonymousLoginGivesTokensThatOpenTheProfile() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            #expect(tokens.user.count == 24)
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.access)
            #expect(profile.status == 200)
            #expect(profile.string("user_id") == tokens.user)
            #expect(profile.body.contains(#""provider_type":"anon-user""#))
            #expect(profile.body.contains(#""data":{}"#))
            #expect(profile.headers["cache-control"] == "no-store")
        }
    }

    @Test func tokensAreJWTsWithIntegerTimes() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            for token in [tokens.access, tokens.refresh] {
                let parts = token.split(separator: ".", omittingEmptySubsequences: false)
                #expect(parts.count == 3)
                var base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
                base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
                let payload = try #require(Data(base64Encoded: base64))
                let text = String(decoding: payload, as: UTF8.self)
                #expect(text.contains(/"exp":\d+[,}]/))
                #expect(text.contains(/"iat":\d+[,}]/))
                #expect(!text.contains("user_data"))
            }
        }
    }

    @Test func aRegisteredUserLogsInAndKeepsItsID() async throws {
        try await GatewayHarness.with { gateway in
            let registered = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"Ann@example.net","password":"secret-1"}"#)
            #expect(registered.status == 201)
            var users: Set<String> = []
            for name in ["ann@example.net", "ANN@example.net"] {
                let login = try await gateway.request(
                    "POST", "\(Self.userpass)/login", body: #"{"username":"\#(name)","password":"secret-1"}"#)
                #expect(login.status == 200)
                users.insert(login.string("user_id") ?? "")
                let profile = try await gateway.request(
                    "GET", "\(GatewayHarness.auth)/profile", bearer: login.string("access_token"))
                // As it was registered; whoever logs in may spell it otherwise.
                #expect(profile.body.contains(#""email":"Ann@example.net""#))
            }
            #expect(users.count == 1)
        }
    }

    @Test func aTakenAddressIsRefused() async throws {
        try await GatewayHarness.with { gateway in
            let body = #"{"email":"a@example.net","password":"secret-1"}"#
            _ = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
            let again = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: body.replacing("a@example", with: "A@Example"))
            #expect(again.status == 409)
            #expect(again.string("error_code") == "AccountNameInUse")
            #expect(again.string("error") == "name already in use")
            #expect(again.string("link")?.hasPrefix(gateway.base) == true)
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
                #expect(answer.status == 401)
                #expect(answer.contentTypes == ["application/json"])
                #expect(answer.string("error_code") == "InvalidPassword")
                #expect(answer.string("error") == "invalid username/password")
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
            #expect(again.status == 401)
            #expect(again.string("error_code") == "UserDisabled")
            let refresh = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: login.string("refresh_token"))
            #expect(refresh.status == 401)
            #expect(refresh.string("error_code") == "InvalidSession")
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
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func eachEndpointTakesItsKindOfTokenOnly() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.refresh)
            #expect(profile.status == 401)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.access)
            #expect(refresh.status == 401)
        }
    }

    @Test func anEmptyBearerIsNone() async throws {
        try await GatewayHarness.with { gateway in
            for bearer in [nil, "", " "] {
                let answer = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: bearer)
                #expect(answer.status == 401)
                #expect(answer.string("error") == "must authenticate first")
            }
        }
    }

    @Test func logoutRevokesTheLogin() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            let logout = try await gateway.request("DELETE", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            #expect(logout.status == 204)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            #expect(refresh.status == 401)
            #expect(refresh.string("error") == "invalid session")
        }
    }

    @Test func aUserThatDeletesItselfIsGone() async throws {
        try await GatewayHarness.with { gateway in
            let body = #"{"email":"a@example.net","username":"a@example.net","password":"secret-1"}"#
            _ = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
            let login = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            let user = try #require(login.string("user_id"))
            let (access, refresh) = (login.string("access_token"), login.string("refresh_token"))
            #expect(try await gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: refresh).status == 401)
            #expect(try await gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: access).status == 204)
            #expect(try await gateway.store.user(app: "tasks", id: user) == nil)
            #expect(try await gateway.request("DELETE", "\(GatewayHarness.auth)/delete", bearer: access).status == 401)
            #expect(try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: refresh).status == 401)
            let again = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            #expect(again.status == 401 && again.string("error_code") == "InvalidPassword")
            // The address is free again.
            #expect(try await gateway.request("POST", "\(Self.userpass)/register", body: body).status == 201)
        }
    }

    @Test func anAccessTokenEndsAfterHalfAnHour() async throws {
        try await GatewayHarness.with { gateway in
            let tokens = try await gateway.logInAnonymously()
            gateway.clock.advance(by: .seconds(1800 + 61))
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: tokens.access)
            #expect(profile.status == 401)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            #expect(refresh.status == 200)
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
            #expect(try Self.claims(first.string("access_token"))["user_data"] == nil)
            let without = try await gateway.request(
                "GET", "\(GatewayHarness.auth)/profile", bearer: first.string("access_token"))
            #expect(without.status == 200 && without.json["custom_data"] == nil)

            try await gateway.store.setCustomData(
                #"{"team":"red","n":{"$numberLong":"5"}}"#, app: "tasks", user: user)
            // A login and a refresh bring what there is by then.
            let login = try await gateway.request("POST", "\(Self.userpass)/login", body: body)
            let refresh = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: first.string("refresh_token"))
            for answer in [login, refresh] {
                let data = try Self.claims(answer.string("access_token"))["user_data"] as? [String: Any]
                #expect(data?["team"] as? String == "red" && (data?["n"] as? [String: String]) == ["$numberLong": "5"])
            }
            #expect(try Self.claims(login.string("refresh_token"))["user_data"] == nil)
            let profile = try await gateway.request(
                "GET", "\(GatewayHarness.auth)/profile", bearer: refresh.string("access_token"))
            #expect(profile.body.contains(#""custom_data":{"n":{"$numberLong":"5"},"team":"red"}"#))
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
                #expect(try Self.claims(access)["user_data"] == nil)
                let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: access)
                #expect(profile.status == 200 && profile.body.contains(text))
            }
            try await gateway.store.setCustomData(
                #"{"a":"\#(String(repeating: "é", count: 2_000))"}"#, app: "tasks", user: tokens.user)
            let refresh = try await gateway.request("POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
            let access = try #require(refresh.string("access_token"))
            #expect(try Self.claims(access)["user_data"] != nil)
            let profile = try await gateway.request("GET", "\(GatewayHarness.auth)/profile", bearer: access)
            #expect(profile.status == 200)
        }
    }

    /// What remembered settings refuse may have been allowed a moment ago, and clients take such answers for final.
    @Test func settingsThatAreRememberedRefuseNobody() async throws {
        try await GatewayHarness.with(configure: { $0.timings.appCache = .seconds(600) }) { gateway in
            let unknown = "/api/client/v2.0/app/later/location"
            #expect(try await gateway.request("GET", unknown).status == 404)
            try await gateway.store.insert(AppRecord(id: "later", createdAt: 1))
            #expect(try await gateway.request("GET", unknown).status == 200)
            _ = try await gateway.store.updateApp("tasks") {
                $0.anonymousLogin = false
                $0.emailPasswordLogin = false
            }
            let anonymous = "\(GatewayHarness.app)/auth/providers/anon-user/login"
            let body = #"{"email":"a@example.net","username":"a@example.net","password":"secret-1"}"#
            #expect(try await gateway.request("POST", anonymous, body: "{}").status == 404)
            #expect(try await gateway.request("POST", "\(Self.userpass)/register", body: body).status == 404)
            _ = try await gateway.store.updateApp("tasks") {
                $0.anonymousLogin = true
                $0.emailPasswordLogin = true
            }
            #expect(try await gateway.request("POST", anonymous, body: "{}").status == 200)
            #expect(try await gateway.request("POST", "\(Self.userpass)/register", body: body).status == 201)
            #expect(try await gateway.request("POST", "\(Self.userpass)/login", body: body).status == 200)
        }
    }

    @Test func hostileBodiesAreRefusedAndNothingElseHappens() async throws {
        try await GatewayHarness.with { gateway in
            for body in ["", "{", "[]", #"{"email":1,"password":2}"#, #"{"email":"a b@x","password":"secret-1"}"#] {
                let answer = try await gateway.request("POST", "\(Self.userpass)/register", body: body)
                #expect(answer.status == 400)
                #expect(answer.contentTypes == ["application/json"])
            }
            let large = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: String(repeating: "x", count: 100_000))
            #expect(large.status == 413)
            let answer = try await gateway.request("GET", "\(GatewayHarness.app)/location")
            #expect(answer.status == 200)
        }
    }

    @Test func providersThatAreOffAreNotFound() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.store.updateApp("tasks") { $0.anonymousLogin = false }
            let off = try await gateway.request(
                "POST", "\(GatewayHarness.app)/auth/providers/anon-user/login", body: "{}")
            #expect(off.status == 404)
            #expect(off.string("error_code") == "AuthProviderNotFound")
            let unknown = try await gateway.request(
                "POST", "\(GatewayHarness.app)/auth/providers/abc/login", body: "{}")
            #expect(unknown.status == 404)
        }
    }

    @Test func passwordsAreStoredAsScryptAndRehashedWhenTheCostChanges() async throws {
        try await GatewayHarness.with { gateway in
            _ = try await gateway.request(
                "POST", "\(Self.userpass)/register", body: #"{"email":"a@example.net","password":"secret-1"}"#)
            let first = try #require(try await gateway.store.password(app: "tasks", email: "a@example.net"))
            #expect(first.passwordHash.hasPrefix("$scrypt$ln=8,"))
            #expect(!first.passwordHash.contains("secret"))
            try await GatewayHarness.with(store: gateway.store, configure: { $0.passwords.logN = 9 }) { other in
                let login = try await other.request(
                    "POST", "\(Self.userpass)/login", body: #"{"username":"a@example.net","password":"secret-1"}"#)
                #expect(login.status == 200)
            }
            let second = try #require(try await gateway.store.password(app: "tasks", email: "a@example.net"))
            #expect(second.passwordHash.hasPrefix("$scrypt$ln=9,"))
        }
    }
}
