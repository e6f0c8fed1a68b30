/// Further ways to log in as a user that exists: an anonymous one that gets a password keeps its id, and what it has synced.
package protocol IdentityLinkStore: Sendable {
    /// Makes an account with a password the user's; nothing changes if it is already.
    ///
    /// - Parameter identity: what the user's record gets.
    /// - Throws: `notFound` for an unknown user or address; `alreadyExists` if the account is another user's.
    func link(
        email: String, to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError)
    /// The same for what another service calls the user.
    func link(
        externalID: String, profile: [String: String], to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError)
}

extension UserRecord {
    /// Takes an identity in; its account's address becomes the user's, if there was none.
    package mutating func link(_ identity: Identity, email: String?) {
        identities.append(identity)
        self.email = self.email ?? email
    }
}

extension StoreError {
    package static let linkedElsewhere = StoreError(.alreadyExists, "the identity is another user's")
}
