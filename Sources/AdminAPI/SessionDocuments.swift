package import Storage

/// The body that logs in to the dashboard: a token, or the code of a login link.
package struct SessionRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["token", "code"]

    package var token: String?
    package var code: String?
}

/// The token that a request comes from, and the end of its session.
package struct SessionDocument: Codable, Sendable, Equatable {
    /// The name of the token.
    package var token: String
    package var role: AdminRole
    /// Milliseconds of Unix time; absent of a request that bears the token itself.
    package var expiresAt: UInt64?

    package init(token: String, role: AdminRole, expiresAt: UInt64?) {
        self.token = token
        self.role = role
        self.expiresAt = expiresAt
    }
}

/// A link that logs in to the dashboard once, with the rights of the token that asked for it.
package struct LoginLinkDocument: Codable, Sendable, Equatable {
    /// The path of the link, to be put behind the coordinator's address.
    package var path: String
    /// The address to put before the path; absent where the settings do not say.
    package var origin: String?
    /// Milliseconds of Unix time.
    package var expiresAt: UInt64

    package init(path: String, expiresAt: UInt64) {
        self.path = path
        self.expiresAt = expiresAt
    }
}
