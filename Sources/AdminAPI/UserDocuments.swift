package import Storage
package import SyncModel

/// A user of an app.
package struct UserDocument: Codable, Sendable, Equatable {
    package struct Identity: Codable, Sendable, Equatable {
        package var id: String
        /// `anon-user` or `local-userpass`.
        package var provider: String
    }

    package var id: String
    package var email: String?
    package var identities: [Identity]
    package var isDisabled: Bool
    /// Milliseconds of Unix time.
    package var createdAt: UInt64
    /// The data that operators have stored for the user; absent for none.
    package var customData: JSONValue?

    package init(_ user: UserRecord) {
        id = user.id
        email = user.email
        identities = user.identities.map { Identity(id: $0.id, provider: $0.provider) }
        isDisabled = user.isDisabled
        createdAt = user.createdAt
        customData = user.customData.flatMap { try? JSONParser.parse($0) }
    }
}

/// A page of users, by id.
package struct UserList: Codable, Sendable, Equatable {
    package var users: [UserDocument]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(users: [UserDocument], next: String?) {
        self.users = users
        self.next = next
    }
}

/// The body that sets a user's custom data.
package struct CustomDataRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["customData"]
    package static let nullableKeys = keys

    /// An object; absent or null for none.
    package var customData: JSONValue?

    package init(customData: JSONValue?) { self.customData = customData }
}

/// How many logins were revoked.
package struct RevocationAnswer: Codable, Sendable, Equatable {
    package var app: String
    /// Absent if it was all of the app's users.
    package var user: String?
    package var revoked: Int

    package init(app: String, user: String?, revoked: Int) {
        self.app = app
        self.user = user
        self.revoked = revoked
    }
}

/// A user that is no more.
package struct UserRemoval: Codable, Sendable, Equatable {
    package var app: String
    package var user: String
    /// The campaigns that account for the clients of its own realms, if these were to go.
    package var erasures: [String]?

    package init(app: String, user: String, erasures: [String]? = nil) {
        self.app = app
        self.user = user
        self.erasures = erasures
    }
}
