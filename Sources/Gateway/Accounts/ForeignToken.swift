import Foundation
import JWTKit
package import Storage

/// A token that another service has signed for one of its users, verified.
package struct ForeignToken: Sendable, Equatable {
    /// What the service calls the user.
    package var subject: String
    /// What goes into the profile.
    package var profile: [String: String]

    /// Why a token is not accepted, for the log; clients hear only that it is not. Never carries the token.
    package struct Refused: Error, Equatable {
        package var reason: String
        init(_ reason: String) { self.reason = reason }
    }

    static let maxBytes = 16 << 10
    static let maxSubject = 256
    /// What clocks may differ by, in seconds.
    static let skew = 60

    /// What a token says about how to verify it.
    package struct Header: Sendable, Equatable {
        var algorithm: TokenAlgorithm
        var keyID: String?

        package init(of token: String) throws(Refused) {
            struct Fields: Decodable {
                var alg: String
                var kid: String?
                /// Something in the token must be understood by whoever accepts it.
                var hasCritical: Bool
                enum CodingKeys: String, CodingKey { case alg, kid, crit }

                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    alg = try container.decode(String.self, forKey: .alg)
                    kid = try container.decodeIfPresent(String.self, forKey: .kid)
                    hasCritical = container.contains(.crit)
                }
            }
            guard token.utf8.count <= maxBytes, let data = TokenHeader.json(of: token),
                let fields = try? JSONDecoder().decode(Fields.self, from: data)
            else { throw Refused("it is no JWT") }
            guard !fields.hasCritical else {
                throw Refused("its header has \"crit\", which names what must be understood; nothing like that is here")
            }
            guard let algorithm = TokenAlgorithm(rawValue: fields.alg) else {
                throw Refused(
                    "its algorithm is \(fields.alg.prefix(10)): expected one of \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            self.algorithm = algorithm
            keyID = fields.kid
        }
    }

    /// Verifies a token by the app's settings.
    /// - Parameters:
    ///   - key: what verifies a token with this header.
    ///   - now: seconds of Unix time.
    package init(
        _ token: String, by settings: TokenLoginSettings, app: String, header: Header, key: ForeignKey, now: Int
    ) async throws {
        guard settings.algorithms.contains(header.algorithm) else {
            throw Refused("its algorithm \(header.algorithm.rawValue) is not among those of the app's settings")
        }
        guard key.fits(header.algorithm) else {
            throw Refused("its key makes no signatures of \(header.algorithm.rawValue)")
        }
        let claims: Claims
        do {
            // One key under the one algorithm: what the token says of itself chooses nothing any more.
            let collection = JWTKeyCollection()
            switch key {
            case .pair(let key): try await collection.add(jwk: try Self.jwk(key, header))
            case .secret(let secret):
                await collection.add(
                    hmac: HMACKey(from: secret), digestAlgorithm: .sha256,
                    kid: header.keyID.map { JWKIdentifier(string: $0) })
            }
            claims = try await collection.verify(token, as: Claims.self)
        } catch let error as Refused {
            throw error
        } catch {
            throw Refused("its signature or form is wrong")
        }
        if let issuer = settings.issuer, claims.iss != issuer { throw Refused("its issuer is not the app's") }
        guard !Set(claims.aud).isDisjoint(with: settings.audience ?? [app]) else {
            throw Refused("its audience is not the app's")
        }
        guard let exp = claims.exp, exp + Double(Self.skew) > Double(now) else { throw Refused("it has expired") }
        guard claims.nbf ?? 0 <= Double(now + Self.skew) else { throw Refused("it is not valid yet") }
        guard (1...Self.maxSubject).contains(claims.sub.utf8.count) else {
            throw Refused("its subject has not 1 to \(Self.maxSubject) bytes")
        }
        // A store may take what ends at one for all of the subject, and so for another user's.
        guard !claims.sub.utf8.contains(0) else { throw Refused("its subject has a character U+0000") }
        // Some readers of JSON take the first and some the last of two claims of one name, and some repair what is not UTF-8: the token would
        // have two subjects.
        guard let payload = Self.payload(of: token), claims.agree(with: payload) else {
            throw Refused("its claims are no UTF-8, or one of them stands twice")
        }
        subject = claims.sub
        profile = try Self.profile(of: payload, settings.metadata ?? [])
    }

    /// What verifies another service's tokens.
    package enum ForeignKey: Sendable {
        /// The public one of a pair.
        case pair(PublicKey)
        /// What the service signs with, too.
        case secret(String)

        func fits(_ algorithm: TokenAlgorithm) -> Bool {
            switch self {
            case .pair(let key): key.fits(algorithm)
            case .secret: algorithm == .hs256
            }
        }
    }

    private struct Claims: JWTPayload {
        var iss: String?
        var sub: String
        var aud: [String]
        var exp: Double?
        var nbf: Double?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            iss = try container.decodeIfPresent(String.self, forKey: .iss)
            sub = try container.decode(String.self, forKey: .sub)
            exp = try container.decodeIfPresent(Double.self, forKey: .exp)
            nbf = try container.decodeIfPresent(Double.self, forKey: .nbf)
            if let one = try? container.decode(String.self, forKey: .aud) {
                aud = [one]
            } else {
                aud = try container.decodeIfPresent([String].self, forKey: .aud) ?? []
            }
        }

        /// Whether another reading of the same claims says the same.
        func agree(with payload: [String: Any]) -> Bool {
            func number(_ name: String) -> Double? { (payload[name] as? NSNumber)?.doubleValue }
            let audience = (payload["aud"] as? String).map { [$0] } ?? payload["aud"] as? [String] ?? []
            return payload["iss"] as? String == iss && payload["sub"] as? String == sub && audience == aud
                && number("exp") == exp && number("nbf") == nbf
        }

        // The times are checked with the gateway's clock and skew.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private static func jwk(_ key: PublicKey, _ header: Header) throws -> JWK {
        let fields = [
            ("kty", key.kty), ("alg", header.algorithm.rawValue), ("kid", header.keyID ?? "only"), ("crv", key.crv),
            ("n", key.n), ("e", key.e), ("x", key.x), ("y", key.y),
        ].reduce(into: [String: String]()) { $0[$1.0] = $1.1 }
        return try JSONDecoder().decode(JWK.self, from: try JSONEncoder().encode(fields))
    }

    private static let maxField = 1000

    /// Texts, numbers and booleans; whatever else stands there is none.
    private static func profile(
        of payload: [String: Any], _ metadata: [TokenLoginSettings.Metadata]
    ) throws(Refused) -> [String: String] {
        var profile: [String: String] = [:]
        for entry in metadata {
            let value = value(entry.claim[...], in: payload)
            let text = (value as? String) ?? (value as? NSNumber)?.stringValue
            if let text {
                profile[entry.field] = String(text.prefix(maxField))
            } else if entry.required == true {
                throw Refused("it has no claim \(entry.claim)")
            }
        }
        return profile
    }

    /// - Parameter path: a name, or names with dots between them.
    private static func value(_ path: Substring, in object: [String: Any]) -> Any? {
        if let value = object[String(path)] { return value }
        guard let dot = path.firstIndex(of: "."), let inner = object[String(path[..<dot])] as? [String: Any] else {
            return nil
        }
        return value(path[path.index(after: dot)...], in: inner)
    }

    /// All claims, the last one of each name; nil if they are no JSON object in UTF-8.
    private static func payload(of token: String) -> [String: Any]? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let data = TokenHeader.decoded(parts[1]) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}
