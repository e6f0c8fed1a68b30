package import Storage

/// A way to log in that an app's settings can turn on, beside those that are settings of the app itself.
package enum LoginProvider: String, Codable, Sendable, CaseIterable {
    /// Keys that users make for programs.
    case apiKey = "api-key"
    /// Tokens that another service signs.
    case customToken = "custom-token"
}

/// The ways to log in that an app has, with their settings.
package struct LoginList: Codable, Sendable, Equatable {
    /// Whether users may make API keys and programs log in with them.
    package var apiKey: Bool
    /// Absent if such logins are off.
    package var customToken: TokenLoginSettings?

    package init(apiKey: Bool, customToken: TokenLoginSettings?) {
        self.apiKey = apiKey
        self.customToken = customToken
    }

    private enum CodingKeys: String, CodingKey {
        case apiKey = "api-key"
        case customToken = "custom-token"
    }
}

extension TokenLoginSettings: AdminBody {
    package static let keys: Set<String> = ["issuer", "audience", "jwksURL", "jwks", "algorithms", "metadata"]
    package static let shownKeys: Set<String> = ["issuer", "jwksURL"]
}
