package import Storage

/// A signing key of tokens, without what it signs with.
package struct KeyDocument: Codable, Sendable, Equatable {
    package var id: String
    /// `access` or `refresh`.
    package var purpose: String
    /// Milliseconds of Unix time, as all times.
    package var createdAt: UInt64
    /// When the last token that it signed has ended, and the key goes; absent for the key that signs.
    package var verifiesUntil: UInt64?

    package init(_ key: SigningKeyRecord, verifiesUntil: UInt64?) {
        id = key.id
        purpose = key.purpose
        createdAt = key.createdAt
        self.verifiesUntil = verifiesUntil
    }
}

/// All signing keys, of each purpose the newest first.
package struct KeyList: Codable, Sendable, Equatable {
    package var keys: [KeyDocument]

    package init(keys: [KeyDocument]) { self.keys = keys }
}

/// The body that makes new signing keys.
package struct KeyRotationRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["purpose"]
    package static let shownKeys = keys

    /// `access` or `refresh`; both if absent.
    package var purpose: String?

    package init(purpose: String? = nil) { self.purpose = purpose }
}
