/// A user of one app.
package struct UserRecord: Sendable, Equatable {
    package struct Identity: Sendable, Equatable {
        /// 24 hexadecimal digits.
        package var id: String
        /// `anon-user` or `local-userpass`.
        package var provider: String

        package init(id: String, provider: String) {
            self.id = id
            self.provider = provider
        }
    }

    package var app: String
    /// 24 hexadecimal digits.
    package var id: String
    package var identities: [Identity]
    /// The e-mail address as it was registered; addresses are compared in lower case.
    package var email: String?
    package var isDisabled: Bool
    package var createdAt: UInt64
    /// The data that operators have stored for the user, for rules and the user's clients to look at: a JSON object. Nil: nothing.
    package var customData: String?

    /// So many changes of an app's users are remembered, the newest.
    package static let keptChanges: UInt64 = 1_000

    /// Bytes of `customData`.
    package static let maxCustomDataBytes = 16_384

    /// Bytes of `customData` as a claim of an access token, which travels in the URL of each socket; what has more is in the profile
    /// alone.
    package static let maxTokenDataBytes = 4_096

    package init(
        app: String, id: String, identities: [Identity], email: String?, isDisabled: Bool, createdAt: UInt64,
        customData: String? = nil
    ) {
        self.app = app
        self.id = id
        self.identities = identities
        self.email = email
        self.isDisabled = isDisabled
        self.createdAt = createdAt
        self.customData = customData
    }

}

extension [UserRecord.Identity] {
    /// The user has logged in anonymously, and can in no other way: so clients take it, too.
    package var isAnonymous: Bool { count == 1 && first?.provider == "anon-user" }
}

extension UserRecord {
    /// Custom data as it may be stored.
    /// - Throws: `full` if it is too large.
    package static func checked(customData: String?) throws(StoreError) -> String? {
        let bytes = customData?.utf8.count ?? 0
        guard bytes <= maxCustomDataBytes else {
            throw StoreError(.full, "custom data of \(bytes) bytes; \(maxCustomDataBytes) are allowed")
        }
        return customData
    }
}

/// A registered e-mail address with its password's hash; the user comes into being at the first login.
package struct PasswordRecord: Sendable, Equatable {
    package var app: String
    /// The address in lower case: what registrations are told apart by.
    package var email: String
    /// The address as it was registered; nil of registrations of earlier versions, and where it is the same as `email`.
    package var spelling: String?
    /// Self-describing: algorithm, parameters, salt, hash.
    package var passwordHash: String
    package var userID: String?
    /// While the address is not confirmed: tells where it was registered from, from other places.
    package var pending: String?

    package init(
        app: String, email: String, spelling: String? = nil, passwordHash: String, userID: String?,
        pending: String? = nil
    ) {
        self.app = app
        self.email = email
        self.spelling = spelling == email ? nil : spelling
        self.passwordHash = passwordHash
        self.userID = userID
        self.pending = pending
    }

    /// The address as its user wrote it.
    package var registeredEmail: String { spelling ?? email }
}

/// One login: the authority behind its refresh token.
package struct LoginSessionRecord: Sendable, Equatable {
    package var id: String
    package var app: String
    package var userID: String
    package var deviceID: String
    package var createdAt: UInt64
    package var lastUsedAt: UInt64
    package var expiresAt: UInt64
    package var isRevoked: Bool
    /// Tells the address of the login from others of the user; absent from logins of earlier versions.
    package var origin: String?

    package init(
        id: String, app: String, userID: String, deviceID: String, createdAt: UInt64, lastUsedAt: UInt64,
        expiresAt: UInt64, isRevoked: Bool, origin: String? = nil
    ) {
        self.id = id
        self.app = app
        self.userID = userID
        self.deviceID = deviceID
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
        self.origin = origin
    }
}

package protocol AccountStore: LoginProviderStore, MailTokenStore, IdentityLinkStore, UserChangeStore {
    func user(app: String, id: String) async throws(StoreError) -> UserRecord?
    func insert(_ user: UserRecord) async throws(StoreError)
    /// An app's users in the order of their ids.
    func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord]
    func userCount(app: String) async throws(StoreError) -> Int
    /// Disables or enables a user. Like every change of a user, this raises the app's `usersVersion`.
    /// - Throws: `notFound`.
    func setDisabled(_ disabled: Bool, app: String, user: String) async throws(StoreError)
    /// - Parameter customData: a JSON object of at most `UserRecord.maxCustomDataBytes`; nil for none.
    /// - Throws: `notFound`, `full`.
    func setCustomData(_ customData: String?, app: String, user: String) async throws(StoreError)
    /// Removes the user, its logins and its address, which somebody may register again.
    /// - Throws: `notFound`.
    func removeUser(app: String, id: String) async throws(StoreError)
    /// Takes the place of a registration whose address was not confirmed.
    /// - Throws: `alreadyExists` if the address is taken.
    func register(_ password: PasswordRecord) async throws(StoreError)
    func password(app: String, email: String) async throws(StoreError) -> PasswordRecord?
    /// Changes nothing if the account has another hash than `old` by now: its password was changed meanwhile.
    /// - Throws: `notFound`.
    func setPasswordHash(
        _ hash: String, replacing old: String, app: String, email: String
    ) async throws(StoreError)
    /// Makes `user` the user of the address if it has none yet; returns the id of the user that it then has.
    func adopt(_ user: UserRecord, app: String, email: String) async throws(StoreError) -> String
    func insert(_ session: LoginSessionRecord) async throws(StoreError)
    func loginSession(_ id: String) async throws(StoreError) -> LoginSessionRecord?
    /// Whether a login of the user with this origin is stored, revoked ones too.
    func hasLoginSession(app: String, user: String, origin: String) async throws(StoreError) -> Bool
    func touchLoginSession(_ id: String, at: UInt64) async throws(StoreError)
    func revokeLoginSession(_ id: String) async throws(StoreError)
    /// Revokes the logins of one user, or of all of an app's; returns how many that were. Raises the app's `usersVersion`.
    /// - Parameter user: nil for all.
    /// - Throws: `notFound` for an unknown app.
    func revokeLoginSessions(app: String, user: String?) async throws(StoreError) -> Int
    /// The newest key of a purpose is first. `candidate` is inserted if there is none yet, so that all processes agree.
    func signingKeys(purpose: String, orCreate candidate: SigningKeyRecord) async throws(StoreError)
        -> [SigningKeyRecord]
    /// The keys of all purposes, in any order.
    func signingKeys() async throws(StoreError) -> [SigningKeyRecord]
    /// Adds the newest key of its purpose, dated later if the one before is of a clock that is ahead. Changes nothing, and
    /// returns false, if that one was made after `limit`.
    func addSigningKey(_ key: SigningKeyRecord, unlessNewerThan limit: UInt64) async throws(StoreError) -> Bool
    /// Removes signing keys. Keys that are not there any more are passed over.
    func removeSigningKeys(_ ids: [String]) async throws(StoreError)
}
