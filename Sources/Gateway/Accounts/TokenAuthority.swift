import Foundation
package import JWTKit
import Rules
package import Storage
import SyncModel
import Synchronization

/// What a token says (docs/http-api.md, "Tokens"). Times are plain integers: a stock client's parser needs that.
package struct TokenClaims: JWTPayload, Equatable {
    var iss: String
    var aud: String
    var sub: String
    var typ: String
    var sid: String
    var did: String
    var iat: Int
    var exp: Int
    /// How the user has logged in; absent from tokens of earlier versions.
    var prv: String?
    /// What operators have stored for the user, for its clients to look at. Nobody here looks at it, so it is not read.
    var userData: JSONValue?

    private enum CodingKeys: String, CodingKey {
        case iss, aud, sub, typ, sid, did, iat, exp, prv
        case userData = "user_data"
    }

    init(
        iss: String, aud: String, sub: String, typ: String, sid: String, did: String, iat: Int, exp: Int,
        prv: String?, userData: JSONValue?
    ) {
        self.iss = iss
        self.aud = aud
        self.sub = sub
        self.typ = typ
        self.sid = sid
        self.did = did
        self.iat = iat
        self.exp = exp
        self.prv = prv
        self.userData = userData
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String { try container.decode(String.self, forKey: key) }
        self.init(
            iss: try text(.iss), aud: try text(.aud), sub: try text(.sub), typ: try text(.typ), sid: try text(.sid),
            did: try text(.did), iat: try container.decode(Int.self, forKey: .iat),
            exp: try container.decode(Int.self, forKey: .exp),
            prv: try container.decodeIfPresent(String.self, forKey: .prv), userData: nil)
    }

    /// Custom data as a claim; nil if there is none, or too much for a URL.
    static func userData(of customData: String?) -> JSONValue? {
        guard let customData, let value = try? JSONParser.parse(customData), value.objectValue != nil,
            let encoded = try? JSONEncoder().encode(value), encoded.count <= UserRecord.maxTokenDataBytes
        else { return nil }
        return value
    }

    /// What rules take the user for.
    var ruleKind: RuleUser.Kind { prv == APIKeyAccounts.provider ? .server : .normal }

    // Times are checked by `TokenAuthority`, with its clock and skew.
    package func verify(using algorithm: some JWTAlgorithm) throws {}
}

/// Why a token is not accepted. Never carries the token.
package enum TokenError: Error, Sendable {
    case missing
    case malformed
    case unknownKey
    case badSignature
    case wrongKind
    case expired
    /// The keys cannot be read from the store.
    case unavailable
}

/// Signs and checks access and refresh tokens: ES256 only, each kind with keys of its own that all gateways share.
package final class TokenAuthority: Sendable {
    private struct Keys {
        var collection: JWTKeyCollection
        var ids: Set<String>
        var signing: String
    }

    /// A reading of the keys that was asked for by a token whose key is not known, shared by all such tokens.
    private struct Reading {
        var task: Task<Void, any Error>
        var startedAt: ContinuousClock.Instant
    }

    /// How often tokens may have the keys read: whoever makes keys up must not wear out the store.
    private static let readingInterval: Duration = .seconds(1)
    private static let maxTokenBytes = 8 << 10
    private let store: any AccountStore
    private let policy: TokenPolicy
    private let issuer: String
    private let clock: GatewayClock
    private let keys = Mutex<[TokenKind: Keys]>([:])
    private let reading = Mutex<Reading?>(nil)
    /// Key ids by the encoded heads of tokens that were good: all tokens of one key begin with the same, so that it need not be taken
    /// apart for each.
    private let heads = Mutex<[Substring: String]>([:])
    private static let maxHeads = 16

    package init(store: any AccountStore, policy: TokenPolicy, issuer: String, clock: GatewayClock) {
        self.store = store
        self.policy = policy
        self.issuer = issuer
        self.clock = clock
    }

    /// Reads the keys, or creates them if this cluster has none yet.
    package func loadKeys() async throws {
        for kind in TokenKind.allCases {
            let candidate = SigningKeyRecord(for: kind, at: clock.unixMilliseconds())
            let records = try await store.signingKeys(purpose: kind.rawValue, orCreate: candidate)
            guard let newest = records.first else { continue }
            let collection = JWTKeyCollection()
            for record in records {
                let key = try ES256PrivateKey(pem: record.privateKeyPEM)
                await collection.add(ecdsa: key, kid: JWKIdentifier(string: record.id))
            }
            let loaded = Keys(collection: collection, ids: Set(records.map(\.id)), signing: newest.id)
            keys.withLock { $0[kind] = loaded }
        }
    }

    /// A token for requests and sockets, which tells the client the user's custom data, too.
    ///
    /// - Parameter provider: how the user has logged in.
    func issueAccess(
        to user: UserRecord, session: String, device: String, provider: String?
    ) async throws -> String {
        try await issue(
            .access, to: user, session, device, provider, userData: TokenClaims.userData(of: user.customData))
    }

    func issueRefresh(
        to user: UserRecord, session: String, device: String, provider: String?
    ) async throws -> String {
        try await issue(.refresh, to: user, session, device, provider, userData: nil)
    }

    private func issue(
        _ kind: TokenKind, to user: UserRecord, _ session: String, _ device: String, _ provider: String?,
        userData: JSONValue?
    ) async throws -> String {
        guard let keys = keys.withLock({ $0[kind] }) else { throw TokenError.unavailable }
        let now = clock.unixSeconds
        let lifetime = kind == .access ? policy.accessLifetime : policy.refreshLifetime
        let claims = TokenClaims(
            iss: issuer, aud: user.app, sub: user.id, typ: kind.rawValue, sid: session, did: device, iat: now,
            exp: now &+ Int(lifetime.components.seconds), prv: provider,
            userData: userData)
        return try await keys.collection.sign(claims, kid: JWKIdentifier(string: keys.signing))
    }

    /// Signature, kind and expiry. Whether the login still holds is the accounts' to say.
    package func verify(_ token: String, as kind: TokenKind) async throws(TokenError) -> TokenClaims {
        guard !token.isEmpty else { throw .missing }
        guard token.utf8.count <= Self.maxTokenBytes else { throw .malformed }
        let head = token[..<(token.utf8.firstIndex(of: UInt8(ascii: ".")) ?? token.startIndex)]
        guard let kid = heads.withLock({ $0[head] }) ?? Self.keyID(of: token) else { throw .malformed }
        let keys = try await keys(for: kind, kid: kid)
        let claims: TokenClaims
        do {
            claims = try await keys.collection.verify(token, as: TokenClaims.self)
        } catch {
            throw .badSignature
        }
        remember(head, kid)
        guard claims.typ == kind.rawValue else { throw .wrongKind }
        let now = clock.unixSeconds
        let skew = Int(policy.skew.components.seconds)
        guard claims.exp &+ skew > now, claims.iat &- skew <= now else { throw .expired }
        return claims
    }

    /// A key that another process has made is read when a token names it. Where it is not known whether there is such a
    /// key, because the keys were read a moment ago, the client has to come again: a refusal would log its user out.
    private func keys(for kind: TokenKind, kid: String) async throws(TokenError) -> Keys {
        func known() -> Keys? { keys.withLock { $0[kind] }.flatMap { $0.ids.contains(kid) ? $0 : nil } }
        if let known = known() { return known }
        let isOfAnotherKind = keys.withLock { $0.values.contains { $0.ids.contains(kid) } }
        guard !isOfAnotherKind else { throw .wrongKind }
        let (task, isNew) = read()
        do { try await task.value } catch { throw .unavailable }
        guard let known = known() else { throw isNew ? .unknownKey : .unavailable }
        return known
    }

    /// Reads the keys, or joins the last reading if that was a moment ago.
    private func read() -> (task: Task<Void, any Error>, isNew: Bool) {
        reading.withLock { reading in
            if let reading, reading.startedAt.duration(to: .now) < Self.readingInterval { return (reading.task, false) }
            // Shared by several requests, so no single one of them owns it; it ends with the reading.
            let task = Task { try await self.loadKeys() }
            reading = Reading(task: task, startedAt: .now)
            return (task, true)
        }
    }

    /// New keys were made: signs with them from now on.
    func keysChanged() {
        reading.withLock { $0 = nil }
        _ = read()
    }

    private func remember(_ head: Substring, _ kid: String) {
        heads.withLock { heads in
            guard heads[head] == nil else { return }
            if heads.count >= Self.maxHeads { heads = [:] }
            // A copy: a substring would keep the whole token.
            heads[Substring(String(head))] = kid
        }
    }

    /// The key id in the header, if the algorithm there is the one we use.
    private static func keyID(of token: String) -> String? {
        guard TokenHeader.json(of: token) != nil,
            let header = try? DefaultJWTParser().parse(Array(token.utf8), as: TokenClaims.self).header,
            header.alg == "ES256"
        else { return nil }
        return header.kid
    }
}
