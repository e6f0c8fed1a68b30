import Crypto
import Foundation
import Gateway
import MemoryStorage
import MergeConformance
import Storage

enum TokenFuzz {
    /// A minute in which the tokens are looked at.
    private static let now = 1_790_000_000
    private static let issuer = "https://login.example.net/"

    /// What signs and verifies: our own keys, and another service's.
    private struct Setup: Sendable {
        var authority: TokenAuthority
        var own: P256.Signing.PrivateKey
        var ownID: String
        var foreign: P256.Signing.PrivateKey
        var foreignKey: PublicKey
    }

    private static let setup = Task {
        let store = MemoryControlStore()
        let authority = TokenAuthority(
            store: store, policy: TokenPolicy(), issuer: "sluice", clock: GatewayClock { UInt64(now) * 1000 })
        try await authority.loadKeys()
        guard let record = try await store.signingKeys().first(where: { $0.purpose == TokenKind.access.rawValue })
        else { throw BrokenLaw("there is no key for access tokens") }
        let foreign = P256.Signing.PrivateKey()
        let raw = foreign.publicKey.rawRepresentation
        let json = """
            {"kty":"EC","crv":"P-256","kid":"k1","x":"\(base64(raw.prefix(32)))","y":"\(base64(raw.suffix(32)))"}
            """
        return Setup(
            authority: authority, own: try P256.Signing.PrivateKey(pemRepresentation: record.privateKeyPEM),
            ownID: record.id, foreign: foreign,
            foreignKey: try JSONDecoder().decode(PublicKey.self, from: Data(json.utf8)))
    }

    /// The first byte says what the rest is: a whole token, the claims of a signed one, or its header and claims with a zero byte
    /// between them; each for our own tokens and for those of another service.
    static func run(_ bytes: [UInt8]) async throws(BrokenLaw) {
        guard let first = bytes.first, let setup = try? await setup.value else { return }
        let rest = Array(bytes.dropFirst())
        let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let isForeign = first & 1 == 1
        switch (first >> 1) % 3 {
        case 0:
            let token = String(decoding: rest, as: UTF8.self)
            let isAccepted = await accepts(token, isForeign: isForeign, setup)
            try BrokenLaw.check(!isAccepted, "a token that nobody has signed is accepted")
        case 1: try await checkSigned(header: standardHeader(isForeign, setup), claims: rest, isForeign, setup)
        default:
            guard parts.count == 2 else { return }
            try await checkSigned(header: Array(parts[0]), claims: Array(parts[1]), isForeign, setup)
        }
    }

    private static func standardHeader(_ isForeign: Bool, _ setup: Setup) -> [UInt8] {
        Array("{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"\(isForeign ? "k1" : setup.ownID)\"}".utf8)
    }

    /// A good signature does not make good claims.
    private static func checkSigned(
        header: [UInt8], claims: [UInt8], _ isForeign: Bool, _ setup: Setup
    ) async throws(BrokenLaw) {
        let text = "\(base64(header)).\(base64(claims))"
        let key = isForeign ? setup.foreign : setup.own
        guard let signature = try? key.signature(for: Data(text.utf8)).rawRepresentation else { return }
        let token = "\(text).\(base64(signature))"
        guard await accepts(token, isForeign: isForeign, setup) else { return }
        try isForeign ? checkForeign(claims) : checkOwn(claims)
        let other = P256.Signing.PrivateKey()
        guard let forged = try? other.signature(for: Data(text.utf8)).rawRepresentation else { return }
        let isAccepted = await accepts("\(text).\(base64(forged))", isForeign: isForeign, setup)
        try BrokenLaw.check(!isAccepted, "a token with another key's signature is accepted")
    }

    private static func checkForeign(_ accepted: [UInt8]) throws(BrokenLaw) {
        guard let claims = try? JSONSerialization.jsonObject(with: Data(accepted)) as? [String: Any] else {
            throw BrokenLaw("a token whose claims are no JSON object is accepted")
        }
        try checkTime((claims["exp"] as? NSNumber)?.doubleValue ?? 0)
        try BrokenLaw.check(claims["iss"] as? String == issuer, "a token of another service is accepted")
    }

    /// Nobody but the gateway signs its own, so that it does not matter how what is no JSON would be read.
    private static func checkOwn(_ accepted: [UInt8]) throws(BrokenLaw) {
        struct Claims: Decodable {
            var exp: Double
            var typ: String
        }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(accepted)) else {
            throw BrokenLaw("a token without its claims is accepted")
        }
        try checkTime(claims.exp)
        try BrokenLaw.check(claims.typ == "access", "a token of another kind is accepted")
    }

    private static func checkTime(_ expiry: Double) throws(BrokenLaw) {
        try BrokenLaw.check(expiry + 60 > Double(now), "a token is accepted after its time")
    }

    private static func accepts(_ token: String, isForeign: Bool, _ setup: Setup) async -> Bool {
        guard isForeign else { return (try? await setup.authority.verify(token, as: .access)) != nil }
        let settings = TokenLoginSettings(
            issuer: issuer, jwks: PublicKeySet(keys: [setup.foreignKey]), algorithms: [.es256],
            metadata: [.init(claim: "user_data.name", field: "name"), .init(claim: "email", field: "email")])
        guard let header = try? ForeignToken.Header(of: token) else { return false }
        let accepted = try? await ForeignToken(
            token, by: settings, app: "tasks", header: header, key: .pair(setup.foreignKey), now: now)
        return accepted != nil
    }

    private static func base64(_ data: some Sequence<UInt8>) -> String {
        Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
