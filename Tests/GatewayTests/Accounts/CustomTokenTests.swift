import Crypto
import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Logins with tokens that another service signs, over HTTP, and tokens that only look so.
@Suite(.hangGuard) struct CustomTokenTests {
    private static let login = "\(GatewayHarness.app)/auth/providers/custom-token/login"
    private static let issuer = "https://login.example.net/"

    /// Another service, with one key.
    private struct Service: Sendable {
        let key = P256.Signing.PrivateKey()
        let id: String

        init(_ id: String = "k1") { self.id = id }

        var publicKey: PublicKey {
            get throws {
                let raw = key.publicKey.rawRepresentation
                let json = """
                    {"kty":"EC","crv":"P-256","kid":"\(id)","x":"\(Self.base64(raw.prefix(32)))",
                     "y":"\(Self.base64(raw.suffix(32)))"}
                    """
                return try JSONDecoder().decode(PublicKey.self, from: Data(json.utf8))
            }
        }

        func sign(_ claims: [String: any Sendable], header: [String: String] = [:]) throws -> String {
            try sign(JSONSerialization.data(withJSONObject: claims), header: header)
        }

        func sign(_ claims: Data, header: [String: String] = [:]) throws -> String {
            var fields = ["alg": "ES256", "typ": "JWT", "kid": id]
            fields.merge(header) { $1 }
            let text = try [JSONSerialization.data(withJSONObject: fields), claims].map(Self.base64)
                .joined(separator: ".")
            return text + "." + Self.base64(try key.signature(for: Data(text.utf8)).rawRepresentation)
        }

        static func base64(_ data: some DataProtocol) -> String {
            Data(data).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
    }

    private static func claims(_ changes: [String: (any Sendable)?] = [:]) -> [String: any Sendable] {
        var claims: [String: any Sendable] = [
            "iss": issuer, "sub": "ann", "aud": "tasks", "exp": Int(Date().timeIntervalSince1970) + 3600,
            "user_data": ["name": "Ann", "age": 7] as [String: any Sendable],
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private static func settings(_ keys: [PublicKey]) -> TokenLoginSettings {
        TokenLoginSettings(
            issuer: issuer, jwks: PublicKeySet(keys: keys), algorithms: [.es256],
            metadata: [
                .init(claim: "user_data.name", field: "name", required: true),
                .init(claim: "user_data.age", field: "min_age"), .init(claim: "nothing", field: "gender"),
            ])
    }

    private static func with(
        _ settings: TokenLoginSettings, _ body: @Sendable @escaping (GatewayHarness) async throws -> Void
    ) async throws {
        expectTrue(settings.problem == nil)
        try await GatewayHarness.with { gateway in
            try await gateway.store.setLoginSettings(
                try JSONEncoder().encode(settings), app: "tasks", provider: "custom-token")
            try await body(gateway)
        }
    }

    private static func logIn(_ gateway: GatewayHarness, _ token: String) async throws -> HTTPAnswer {
        try await gateway.request("POST", login, body: #"{"provider":"custom-token","token":"\#(token)"}"#)
    }

    @Test func aServicesUserLogsInAndKeepsItsID() async throws {
        let service = Service()
        try await Self.with(Self.settings([try service.publicKey])) { gateway in
            let first = try await Self.logIn(gateway, try service.sign(Self.claims()))
            expectEqual(first.status, 200, "\(first.body)")
            let again = try await Self.logIn(
                gateway, try service.sign(Self.claims(["aud": ["other", "tasks"], "exp": 9_999_999_999.5])))
            expectTrue(again.status == 200 && again.string("user_id") == first.string("user_id"))
            let other = try await Self.logIn(gateway, try service.sign(Self.claims(["sub": "bob"])))
            expectTrue(other.status == 200 && other.string("user_id") != first.string("user_id"))
            let profile = try await gateway.request(
                "GET", "\(GatewayHarness.auth)/profile", bearer: first.string("access_token"))
            expectTrue(profile.json["data"] as? [String: String] == ["name": "Ann", "min_age": "7"])
            expectTrue(profile.body.contains(#""provider_type":"custom-token""#))
        }
    }

    /// The service's keys and the audience say enough without an issuer in the settings.
    @Test func anIssuerIsAskedForWhereTheSettingsNameOne() async throws {
        let service = Service()
        var settings = Self.settings([try service.publicKey])
        settings.issuer = nil
        settings.metadata = [
            .init(claim: "user_data.occupation", field: "occupation", required: true),
            .init(claim: "https://example.net/claims/role", field: "role in the house"),
        ]
        let claims: [String: (any Sendable)?] = [
            "user_data": ["occupation": "firefighter"] as [String: any Sendable],
            "https://example.net/claims/role": "admin",
        ]
        try await Self.with(settings) { gateway in
            for issuer in [nil, "https://another.example/"] {
                let token = try service.sign(Self.claims(claims.merging(["iss": issuer]) { $1 }))
                let login = try await Self.logIn(gateway, token)
                expectEqual(login.status, 200, "\(login.body)")
                let profile = try await gateway.request(
                    "GET", "\(GatewayHarness.auth)/profile", bearer: login.string("access_token"))
                expectTrue(
                    profile.json["data"] as? [String: String] == [
                        "occupation": "firefighter", "role in the house": "admin",
                    ])
            }
            let other = try await Self.logIn(gateway, try service.sign(Self.claims(["aud": "other"])))
            expectEqual(other.status, 401)
        }
    }

    /// Two subjects would be one user, or one would be two.
    @Test func claimsThatCanBeReadInTwoWaysAreRefused() async throws {
        let service = Service()
        var settings = Self.settings([try service.publicKey])
        settings.metadata = []
        try await Self.with(settings) { gateway in
            let claims = try JSONSerialization.data(withJSONObject: Self.claims(["sub": "a#b"]))
            try await expectEqual(Self.logIn(gateway, try service.sign(claims)).status, 200)
            let damaged = Data(claims.map { $0 == UInt8(ascii: "#") ? 0xC9 : $0 })
            let twice = claims.dropLast() + Data(#","sub":"bob"}"#.utf8)
            for claims in [damaged, twice] {
                let answer = try await Self.logIn(gateway, try service.sign(claims))
                expectTrue(answer.status == 401 && answer.string("error_code") == "AuthError")
            }
        }
    }

    /// What looks at signatures would end the process over such a header first, whoever sends it.
    @Test(arguments: ["20e36", "-9300000000000000000", "99999999999999999999", #"{"a":[1e30]}"#, "1.0E300"])
    func numbersInAHeaderEndNothing(number: String) async throws {
        let service = Service()
        let header = #"{"alg":"ES256","typ":"JWT","kid":"k1","x":\#(number)}"#
        try await Self.with(Self.settings([try service.publicKey])) { gateway in
            for encoding in [.utf8, .utf16LittleEndian, .utf32BigEndian] as [String.Encoding] {
                let bytes = try #require(header.data(using: encoding))
                let token = [bytes, Data("{}".utf8), Data(count: 64)].map(Service.base64).joined(separator: ".")
                try await expectEqual(Self.logIn(gateway, token).status, 401)
                for (method, path) in [("GET", "profile"), ("POST", "session"), ("DELETE", "session")] {
                    let answer = try await gateway.request(
                        method, "\(GatewayHarness.auth)/\(path)", bearer: token)
                    expectEqual(answer.status, 401, "\(method) \(path)")
                }
            }
        }
    }

    @Test func tokensNotSignedForThisAppAreRefused() async throws {
        let (service, stranger) = (Service(), Service())
        let long = String(repeating: "x", count: 257)
        try await Self.with(Self.settings([try service.publicKey])) { gateway in
            var tokens: [(String, String)] = [
                ("another key", try stranger.sign(Self.claims())),
                ("an unknown key", try service.sign(Self.claims(), header: ["kid": "k2"])),
                ("another issuer", try service.sign(Self.claims(["iss": "https://evil.example/"]))),
                ("another audience", try service.sign(Self.claims(["aud": "other"]))),
                ("no audience", try service.sign(Self.claims(["aud": nil]))),
                ("expired", try service.sign(Self.claims(["exp": 1_000_000_000]))),
                ("without an end", try service.sign(Self.claims(["exp": nil]))),
                ("not yet", try service.sign(Self.claims(["nbf": 9_999_999_999]))),
                ("no subject", try service.sign(Self.claims(["sub": nil]))),
                ("an empty subject", try service.sign(Self.claims(["sub": ""]))),
                ("a long subject", try service.sign(Self.claims(["sub": long]))),
                ("a subject that may be cut", try service.sign(Self.claims(["sub": "ann\0x"]))),
                ("without what must be there", try service.sign(Self.claims(["user_data": nil]))),
                ("another algorithm's name", try service.sign(Self.claims(), header: ["alg": "ES384"])),
                ("what must be understood", try service.sign(Self.claims(), header: ["crit": "exp"])),
                ("no JWT", "a.b.c"), ("nothing", ""), ("two parts", "a.b"),
                ("too long", String(repeating: "x", count: 20_000)),
            ]
            let signed = try service.sign(Self.claims())
            let parts = signed.split(separator: ".")
            tokens.append(("a changed payload", "\(parts[0]).\(parts[1].dropLast(2))QQ.\(parts[2])"))
            tokens.append(("without a signature", "\(parts[0]).\(parts[1])."))
            for (what, token) in tokens {
                let answer = try await Self.logIn(gateway, token)
                expectTrue(
                    answer.status == 401 && answer.string("error_code") == "AuthError", "\(what): \(answer.body)")
            }
            try await expectEqual(gateway.store.userCount(app: "tasks"), 0)
        }
    }

    /// The old tricks: no signature at all, and the public key taken for a secret that both sides know.
    @Test func noneAndSecretsMadeOfPublicKeysAreRefused() async throws {
        let service = Service()
        try await Self.with(Self.settings([try service.publicKey])) { gateway in
            let payload = Service.base64(try JSONSerialization.data(withJSONObject: Self.claims()))
            for alg in ["none", "None", "NONE", "HS256", "HS384", "HS512"] {
                let head = Service.base64(Data(#"{"alg":"\#(alg)","kid":"k1","typ":"JWT"}"#.utf8))
                let raw = service.key.publicKey.rawRepresentation
                for secret in [
                    raw, service.key.publicKey.x963Representation, Data(service.key.publicKey.pemRepresentation.utf8),
                ] {
                    let code = HMAC<SHA256>.authenticationCode(
                        for: Data("\(head).\(payload)".utf8), using: SymmetricKey(data: secret))
                    let answer = try await Self.logIn(gateway, "\(head).\(payload).\(Service.base64(Data(code)))")
                    expectEqual(answer.status, 401, "\(alg)")
                }
                try await expectEqual(Self.logIn(gateway, "\(head).\(payload).").status, 401)
            }
            try await expectEqual(gateway.store.userCount(app: "tasks"), 0)
        }
    }

    @Test(arguments: [nil, "k1"])
    func aSharedSecretVerifiesWhatWasSignedWithIt(keyID: String?) async throws {
        let secret = "a secret that both know, of 32 bytes or more"
        let settings = TokenLoginSettings(issuer: Self.issuer, secret: secret, algorithms: [.hs256])
        func token(_ alg: String = "HS256", secret: String, _ claims: [String: any Sendable]) throws -> String {
            var header = ["alg": alg, "typ": "JWT"]
            header["kid"] = keyID
            let text = try [
                JSONSerialization.data(withJSONObject: header), JSONSerialization.data(withJSONObject: claims),
            ].map(Service.base64).joined(separator: ".")
            let code = HMAC<SHA256>.authenticationCode(
                for: Data(text.utf8), using: SymmetricKey(data: Data(secret.utf8)))
            return text + "." + Service.base64(Data(code))
        }
        let good = try token(secret: secret, Self.claims())
        let service = Service()
        let bad = [
            try token(secret: secret + "x", Self.claims()), try token("HS384", secret: secret, Self.claims()),
            try token("none", secret: secret, Self.claims()), try service.sign(Self.claims()),
            try token(secret: secret, Self.claims(["iss": "https://evil.example/"])),
            try token(secret: secret, Self.claims(["exp": 1_000_000_000])),
            good.split(separator: ".").prefix(2).joined(separator: ".") + ".",
        ]
        try await Self.with(settings) { gateway in
            let answer = try await Self.logIn(gateway, good)
            expectEqual(answer.status, 200, "\(answer.body)")
            for token in bad { try await expectEqual(Self.logIn(gateway, token).status, 401) }
            try await expectEqual(gateway.store.userCount(app: "tasks"), 1)
        }
    }

    /// The reference's own client writes header and claims so.
    @Test func theStandardAlphabetOfBase64IsRead() async throws {
        let secret = "a secret that both know, of 32 bytes or more"
        let settings = TokenLoginSettings(issuer: nil, secret: secret, algorithms: [.hs256])
        let claims = Self.claims(["iss": nil, "x": "????>>>>~~~~"])
        let parts = [
            try JSONSerialization.data(withJSONObject: ["alg": "HS256", "typ": "JWT", "x": "????>>>>~~~~"]),
            try JSONSerialization.data(withJSONObject: claims),
        ].map { $0.base64EncodedString() }
        let text = parts.joined(separator: ".")
        expectTrue(text.contains("/") || text.contains("+"))
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        try await Self.with(settings) { gateway in
            let answer = try await Self.logIn(gateway, "\(text).\(Service.base64(Data(code)))")
            expectEqual(answer.status, 200, "\(answer.body)")
        }
    }

    @Test func keysAreFetchedOnceAndAgainForANewOne() async throws {
        let (old, new) = (Service("old"), Service("new"))
        let published = Mutex<[PublicKey]>([try old.publicKey])
        let fetched = Mutex(0)
        let keys = ForeignKeys(metrics: GatewayMetrics()) { url in
            expectEqual(url, "https://login.example.net/keys")
            fetched.withLock { $0 += 1 }
            return try JSONEncoder().encode(PublicKeySet(keys: published.withLock { $0 }))
        }
        let settings = TokenLoginSettings(
            issuer: Self.issuer, jwksURL: "https://login.example.net/keys", algorithms: [.es256])
        @Sendable func find(_ service: Service) async throws -> String? {
            let header = try ForeignToken.Header(of: try service.sign(Self.claims()))
            return try await keys.key(header, of: settings)?.kid
        }
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try await find(old) } }
            for try await found in group { expectEqual(found, "old") }
        }
        expectEqual(fetched.withLock { $0 }, 1)
        let replacement = try new.publicKey
        published.withLock { $0 = [replacement] }
        // A caller that makes keys up does not have the service's keys fetched again and again.
        for _ in 0..<20 { try await expectTrue(find(Service("made up")) == nil) }
        expectEqual(fetched.withLock { $0 }, 1)
        try await expectEqual(find(old), "old")
    }

    @Test func aServiceThatIsAwayCostsNobodyTheLogin() async throws {
        let service = Service()
        let settings = TokenLoginSettings(
            issuer: Self.issuer, jwksURL: "http://127.0.0.1:1/keys", algorithms: [.es256])
        try await Self.with(settings) { gateway in
            let answer = try await Self.logIn(gateway, try service.sign(Self.claims()))
            expectTrue(answer.status == 503 && answer.headers["retry-after"] != nil)
        }
    }

    @Test func whereTheyAreOffCustomTokensAreNotFound() async throws {
        try await GatewayHarness.with { gateway in
            let answer = try await Self.logIn(gateway, try Service().sign(Self.claims()))
            expectTrue(answer.status == 404 && answer.string("error_code") == "AuthProviderNotFound")
        }
    }

    @Test(arguments: [
        (#"{"issuer":"","algorithms":["ES256"],"jwksURL":"https://a"}"#, "issuer"),
        (#"{"issuer":"i","algorithms":[],"jwksURL":"https://a"}"#, "algorithms"),
        (#"{"issuer":"i","algorithms":["ES256"]}"#, "jwksURL"),
        (#"{"issuer":"i","algorithms":["HS256"]}"#, "32 to 1024 bytes"),
        (#"{"issuer":"i","algorithms":["HS256"],"secret":"0123456789012345678901234567890"}"#, "32 to 1024 bytes"),
        (#"{"issuer":"i","algorithms":["HS256","ES256"],"secret":"01234567890123456789012345678901"}"#, "alone"),
        (#"{"issuer":"i","algorithms":["ES256"],"secret":"01234567890123456789012345678901"}"#, "alone"),
        (
            #"{"issuer":"i","algorithms":["HS256"],"secret":"01234567890123456789012345678901","jwksURL":"https://a"}"#,
            "not both"
        ),
        (#"{"issuer":"i","algorithms":["ES256"],"jwksURL":"http://keys.example.net/"}"#, "expected https"),
        (#"{"issuer":"i","algorithms":["ES256"],"jwksURL":"file:///etc/passwd"}"#, "expected an https URL"),
        (#"{"issuer":"i","algorithms":["ES256"],"jwksURL":"https://a","jwks":{"keys":[]}}"#, "not both"),
        (#"{"issuer":"i","algorithms":["ES256"],"jwks":{"keys":[]}}"#, "jwks.keys"),
        (#"{"issuer":"i","algorithms":["ES256"],"jwks":{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}}"#, "2048 bits"),
        (
            #"{"issuer":"i","algorithms":["ES256"],"jwks":{"keys":[{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"c"}]}}"#,
            "private part"
        ),
        (
            #"{"issuer":"i","algorithms":["RS256"],"jwks":{"keys":[{"kty":"EC","crv":"P-256","x":"a","y":"b"}]}}"#,
            "none of the algorithms"
        ),
        (
            #"{"issuer":"i","algorithms":["ES256"],"jwksURL":"https://a","metadata":[{"claim":"a","field":"$oid"}]}"#,
            "metadata[0].field"
        ),
        (
            #"{"algorithms":["ES256"],"jwksURL":"https://a","metadata":[{"claim":"a","field":"b"},{"claim":"c","field":"b"}]}"#,
            "named twice"
        ),
    ])
    func settingsAreChecked(_ json: String, _ expected: String) throws {
        let settings = try JSONDecoder().decode(TokenLoginSettings.self, from: Data(json.utf8))
        expectEqual(settings.problem?.contains(expected), true, "\(settings.problem ?? "nothing")")
    }
}
