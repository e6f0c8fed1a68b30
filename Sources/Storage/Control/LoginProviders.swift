package import Foundation

/// A key with which a program logs in as the user who made it. Of the key itself only a digest is kept.
package struct APIKeyRecord: Sendable, Equatable {
    /// How many a user may have.
    package static let most = 100

    /// 24 hexadecimal digits.
    package var id: String
    package var app: String
    package var userID: String
    /// No two of a user's have the same.
    package var name: String
    /// SHA-256 in hexadecimal.
    package var digest: String
    package var isDisabled: Bool
    package var createdAt: UInt64

    package init(
        id: String, app: String, userID: String, name: String, digest: String, isDisabled: Bool, createdAt: UInt64
    ) {
        self.id = id
        self.app = app
        self.userID = userID
        self.name = name
        self.digest = digest
        self.isDisabled = isDisabled
        self.createdAt = createdAt
    }
}

/// The identity of a user at another service that vouches for them.
package struct ExternalIdentity: Sendable, Equatable {
    package var app: String
    /// `custom-token`.
    package var provider: String
    /// What the service calls the user.
    package var externalID: String
    package var userID: String
    /// What the service said of the user at the last login.
    package var profile: [String: String]

    package init(app: String, provider: String, externalID: String, userID: String, profile: [String: String]) {
        self.app = app
        self.provider = provider
        self.externalID = externalID
        self.userID = userID
        self.profile = profile
    }
}

/// Where a walk through all users stands.
package struct UserCursor: Sendable, Equatable {
    package var app: String
    package var user: String

    package init(app: String, user: String) {
        self.app = app
        self.user = user
    }
}

/// What ways of logging in beside passwords keep. What belongs to a user goes with the user, what belongs to an app with
/// the app.
package protocol LoginProviderStore: Sendable {
    /// An app's settings of a way to log in, as JSON; nil if it is off.
    func loginSettings(app: String, provider: String) async throws(StoreError) -> Data?
    /// Returns an app's settings of all ways to log in, as JSON, by provider.
    func loginSettings(app: String) async throws(StoreError) -> [String: Data]
    /// - Parameter settings: nil turns it off.
    /// - Throws: `notFound` for an unknown app.
    func setLoginSettings(_ settings: Data?, app: String, provider: String) async throws(StoreError)

    /// - Throws: `alreadyExists` if the user has a key of this name; `full` if there are `APIKeyRecord.most`.
    func insert(_ key: APIKeyRecord) async throws(StoreError)
    /// A user's keys, oldest first.
    func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord]
    func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord?
    /// - Throws: `notFound`, for keys of others too.
    func setAPIKeyDisabled(_ disabled: Bool, app: String, user: String, id: String) async throws(StoreError)
    /// - Throws: `notFound`, for keys of others too.
    func removeAPIKey(app: String, user: String, id: String) async throws(StoreError)

    /// Makes `user` the user whom a service calls so, if there is none yet, and notes what it says of them.
    /// - Returns: the id of the user that it then is.
    func adopt(
        _ user: UserRecord, provider: String, externalID: String, profile: [String: String]
    ) async throws(StoreError) -> String
    func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity]

    /// Looks at the next users of all apps, and removes those that are anonymous, were made before a time, and have not
    /// used a login since.
    /// - Parameter limit: how many users are looked at.
    /// - Returns: how many are gone; and where to go on, nil at the end.
    func removeUnseenAnonymousUsers(
        before: UInt64, after: UserCursor?, limit: Int
    ) async throws(StoreError) -> (removed: Int, next: UserCursor?)
}
