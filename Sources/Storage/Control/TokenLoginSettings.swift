import Foundation

/// How an app's users log in with tokens that another service signed (`custom-token`).
package struct TokenLoginSettings: Codable, Sendable, Equatable {
    /// A claim of a token about its user, and the place where it goes in the profile.
    package struct Metadata: Codable, Sendable, Equatable {
        /// The claim, with dots into objects: `user_data.name`. A claim whose own name has dots comes first.
        package var claim: String
        /// The profile's field.
        package var field: String
        /// Tokens without it are refused; false if absent.
        package var required: Bool?

        package init(claim: String, field: String, required: Bool? = nil) {
            self.claim = claim
            self.field = field
            self.required = required
        }
    }

    /// The `iss` that a token must have; any or none if absent, and the keys alone say whose token it is.
    package var issuer: String?
    /// The names of which a token's `aud` must have at least one; the app's id if absent.
    package var audience: [String]?
    /// Where the service has its keys: https.
    package var jwksURL: String?
    /// Or the keys themselves.
    package var jwks: PublicKeySet?
    /// Or a secret that the service and this cluster know, for HS256: nobody is told it again.
    package var secret: String?
    /// The algorithms whose signatures count.
    package var algorithms: [TokenAlgorithm]
    package var metadata: [Metadata]?

    package init(
        issuer: String?, audience: [String]? = nil, jwksURL: String? = nil, jwks: PublicKeySet? = nil,
        secret: String? = nil, algorithms: [TokenAlgorithm], metadata: [Metadata]? = nil
    ) {
        self.issuer = issuer
        self.audience = audience
        self.jwksURL = jwksURL
        self.jwks = jwks
        self.secret = secret
        self.algorithms = algorithms
        self.metadata = metadata
    }

    /// How many fields of a profile another service may fill, and the bytes of a field's name.
    package static let maxFields = 64
    package static let fieldBytes = 1...64

    /// Fewer could be guessed by whoever has a token.
    package static let secretBytes = 32...1024

    /// The settings without what nobody is told again.
    package var withoutSecret: TokenLoginSettings {
        var settings = self
        settings.secret = nil
        return settings
    }

    /// The mistake, in a sentence that names the key; nil if nothing is.
    package var problem: String? {
        if let issuer, issuer.isEmpty || issuer.utf8.count > 1000 {
            return "issuer: expected 1 to 1,000 bytes, or no issuer"
        }
        if let audience, audience.isEmpty || audience.count > 20 || audience.contains(where: \.isEmpty) {
            return "audience: expected 1 to 20 texts that are not empty"
        }
        if algorithms.isEmpty { return "algorithms: expected at least one" }
        if algorithms.contains(.hs256) || secret != nil { return problemOfSecret ?? problemOfMetadata }
        switch (jwksURL, jwks) {
        case (nil, nil): return "expected jwksURL, or jwks with the keys themselves"
        case (.some, .some): return "expected jwksURL or jwks, not both"
        case (let url?, nil): if let problem = Self.problem(ofURL: url) { return problem }
        case (nil, let set?): if let problem = problem(of: set) { return problem }
        }
        return problemOfMetadata
    }

    /// A secret goes with no public keys: a token could have one verified as the other.
    private var problemOfSecret: String? {
        guard algorithms == [.hs256] else {
            return "algorithms: HS256 is for a secret alone, and a secret for HS256 alone"
        }
        guard jwksURL == nil, jwks == nil else { return "expected a secret, or public keys, not both" }
        guard let secret, Self.secretBytes.contains(secret.utf8.count) else {
            return "secret: expected \(Self.secretBytes.lowerBound) to \(Self.secretBytes.upperBound) bytes"
        }
        return nil
    }

    private var problemOfMetadata: String? {
        let metadata = metadata ?? []
        if metadata.count > Self.maxFields { return "metadata: expected at most \(Self.maxFields) fields" }
        for (index, entry) in metadata.enumerated() {
            if entry.claim.isEmpty || entry.claim.utf8.count > 200 {
                return "metadata[\(index)].claim: expected a claim"
            }
            // Clients read the profile as extended JSON, where such a key is no name.
            if !Self.fieldBytes.contains(entry.field.utf8.count) || entry.field.hasPrefix("$")
                || entry.field.unicodeScalars.contains(where: { $0.value < 0x20 })
            {
                let (least, most) = (Self.fieldBytes.lowerBound, Self.fieldBytes.upperBound)
                return
                    "metadata[\(index)].field: expected \(least) to \(most) bytes without control characters, and no $ first"
            }
        }
        let fields = metadata.map(\.field)
        if Set(fields).count < fields.count { return "metadata: a field is named twice" }
        return nil
    }

    /// Keys that come in the clear are anybody's: http is for this machine only.
    private static func problem(ofURL text: String) -> String? {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil else {
            return "jwksURL: expected an https URL"
        }
        let isLocal = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
        return url.scheme == "https" || (url.scheme == "http" && isLocal)
            ? nil : "jwksURL: expected https; whoever can change the keys on their way can log in as anybody"
    }

    private func problem(of set: PublicKeySet) -> String? {
        if set.keys.isEmpty { return "jwks.keys: expected at least one key, of kty RSA, EC or OKP" }
        for (index, key) in set.keys.enumerated() {
            if let problem = key.problem { return "jwks.keys[\(index)]: \(problem)" }
            if set.keys.count > 1, key.kid == nil { return "jwks.keys[\(index)]: of several keys each needs a \"kid\"" }
            if !algorithms.contains(where: key.fits) {
                return "jwks.keys[\(index)]: none of the algorithms is one of this key's"
            }
        }
        return nil
    }
}
