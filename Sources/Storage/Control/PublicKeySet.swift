/// Keys of another service, with which its tokens are verified: a JSON Web Key Set (RFC 7517).
package struct PublicKeySet: Codable, Sendable, Equatable {
    /// More are not looked at.
    package static let most = 100

    package var keys: [PublicKey]

    package init(keys: [PublicKey]) { self.keys = keys }

    private enum CodingKeys: String, CodingKey { case keys }

    /// Keys of kinds that are not known here are left out, as the standard asks.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let all = try container.decode([Lenient].self, forKey: .keys)
        keys = all.prefix(Self.most).compactMap(\.key)
    }

    private struct Lenient: Decodable {
        let key: PublicKey?
        init(from decoder: any Decoder) { key = try? PublicKey(from: decoder) }
    }
}

/// One key of another service.
package struct PublicKey: Codable, Sendable, Equatable {
    /// `RSA`, `EC` or `OKP`.
    package var kty: String
    package var kid: String?
    package var alg: String?
    package var use: String?
    package var crv: String?
    package var n: String?
    package var e: String?
    package var x: String?
    package var y: String?
    /// The private part: nobody should send it, and whoever does is told.
    package var d: String?

    /// Bits of an RSA key.
    private static let minRSABits = 2048

    /// Why the key cannot be used; nil if it can.
    package var problem: String? {
        if d != nil { return "it has a private part (\"d\"): give the public key only, and replace the key" }
        if let use, use != "sig" { return "its use is \"\(use.prefix(20))\", not \"sig\"" }
        switch kty {
        case "RSA":
            guard let n, e != nil else { return "an RSA key needs \"n\" and \"e\"" }
            // Base64 has six bits a character; leading zeros are rare and short.
            guard n.utf8.count * 6 >= Self.minRSABits - 8 else {
                return "an RSA key has at least \(Self.minRSABits) bits, this one about \(n.utf8.count * 6)"
            }
            return nil
        case "EC":
            guard x != nil, y != nil, ["P-256", "P-384", "P-521"].contains(crv) else {
                return "an EC key needs \"x\", \"y\" and a \"crv\" of P-256, P-384 or P-521"
            }
            return nil
        case "OKP": return x != nil && crv == "Ed25519" ? nil : "an OKP key needs \"x\" and \"crv\" Ed25519"
        default: return "its kind is \"\(kty.prefix(20))\", expected RSA, EC or OKP"
        }
    }

    /// Whether the key makes signatures of this algorithm: the key's kind says so, never the token alone.
    package func fits(_ algorithm: TokenAlgorithm) -> Bool {
        guard problem == nil, alg == nil || alg == algorithm.rawValue else { return false }
        return switch algorithm {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: kty == "RSA"
        case .es256: kty == "EC" && crv == "P-256"
        case .es384: kty == "EC" && crv == "P-384"
        case .es512: kty == "EC" && crv == "P-521"
        case .edDSA: kty == "OKP"
        // Made with a secret, which is no public key.
        case .hs256: false
        }
    }
}

/// The signatures that tokens of other services may have: with a key pair, so that whoever can verify cannot sign, or with a secret
/// that both know.
package enum TokenAlgorithm: String, Codable, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case hs256 = "HS256"
}
