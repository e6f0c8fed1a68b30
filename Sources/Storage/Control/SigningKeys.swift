import Crypto
import SyncModel

/// The tokens that a client has, each with signing keys of its own.
package enum TokenKind: String, Sendable, CaseIterable {
    case access
    case refresh

    package var lifetime: Duration {
        switch self {
        case .access: .seconds(1800)
        case .refresh: .seconds(60 * 86_400)
        }
    }
}

/// A key that signs tokens, shared by all gateways of a cluster.
package struct SigningKeyRecord: Sendable, Equatable {
    /// 24 hexadecimal digits.
    package var id: String
    /// A `TokenKind`.
    package var purpose: String
    /// PEM of an ES256 (P-256) private key.
    package var privateKeyPEM: String
    package var createdAt: UInt64

    package init(id: String, purpose: String, privateKeyPEM: String, createdAt: UInt64) {
        self.id = id
        self.purpose = purpose
        self.privateKeyPEM = privateKeyPEM
        self.createdAt = createdAt
    }

    /// A new key.
    package init(for kind: TokenKind, at now: UInt64) {
        self.init(
            id: ObjectID.make(at: now), purpose: kind.rawValue,
            privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, createdAt: now)
    }
}

/// The keys of one kind of token: the newest signs; each older one verifies until nothing that it signed can be valid.
package struct SigningKeyRing: Sendable {
    /// The time that may pass until every gateway signs with a new key, and what clocks may differ by.
    package static let adoption: Duration = .seconds(660)

    package let kind: TokenKind
    /// Newest first.
    package let keys: [SigningKeyRecord]

    /// - Parameter keys: of all kinds, in any order.
    package init(_ kind: TokenKind, among keys: [SigningKeyRecord]) {
        self.kind = kind
        self.keys = keys.filter { $0.purpose == kind.rawValue }
            .sorted { $0.createdAt == $1.createdAt ? $0.id < $1.id : $0.createdAt > $1.createdAt }
    }

    /// Each key with the time from which no token that it signed can be valid; nil for the one that signs.
    package var lives: [(key: SigningKeyRecord, until: UInt64?)] {
        zip(keys, [nil] + keys.map(Optional.some)).map { key, newer in
            (key, newer.map { $0.createdAt &+ (kind.lifetime + Self.adoption).milliseconds })
        }
    }

    /// The keys that nothing needs any more.
    package func spent(at now: UInt64) -> [SigningKeyRecord] {
        lives.filter { $0.until.map { $0 <= now } ?? false }.map(\.key)
    }

    /// How old the key that signs is, in milliseconds; nil if there is none yet.
    package func age(at now: UInt64) -> UInt64? {
        keys.first.map { now > $0.createdAt ? now - $0.createdAt : 0 }
    }
}
