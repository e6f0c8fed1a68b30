package import Storage

/// A way to log in that an app's settings can turn on, beside those that are settings of the app itself.
package enum LoginProvider: String, Codable, Sendable, CaseIterable {
    /// Keys that users make for programs.
    case apiKey = "api-key"
    /// Tokens that another service signs.
    case customToken = "custom-token"
    /// The addresses of accounts with passwords, which mails prove; whether there are such is a setting of the app.
    case emailPassword = "local-userpass"
}

/// The ways to log in that an app has, with their settings.
package struct LoginList: Codable, Sendable, Equatable {
    /// Whether users may make API keys and programs log in with them.
    package var apiKey: Bool
    /// Absent if such logins are off.
    package var customToken: TokenLoginSettings?
    /// Absent if no mails are sent.
    package var emailPassword: EmailLoginSettings?

    package init(apiKey: Bool, customToken: TokenLoginSettings?, emailPassword: EmailLoginSettings?) {
        self.apiKey = apiKey
        self.customToken = customToken
        self.emailPassword = emailPassword
    }

    private enum CodingKeys: String, CodingKey {
        case apiKey = "api-key"
        case customToken = "custom-token"
        case emailPassword = "local-userpass"
    }
}

extension EmailLoginSettings: AdminBody {
    package static let keys: Set<String> = ["confirmURL", "resetURL"]
    package static let shownKeys = keys
}

extension TokenLoginSettings: AdminBody {
    package static let keys: Set<String> = [
        "issuer", "audience", "jwksURL", "jwks", "secret", "algorithms", "metadata",
    ]
    package static let shownKeys: Set<String> = ["issuer", "jwksURL"]
}
