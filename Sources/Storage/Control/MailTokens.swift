/// What a mail carries so that whoever reads it can prove that the address is theirs. Of the token only a digest is kept.
package struct MailTokenRecord: Sendable, Equatable {
    package enum Purpose: String, Sendable, CaseIterable {
        /// The address is confirmed, with the password of the registration that the mail belongs to.
        case confirm
        /// A new password may be set.
        case reset
    }

    /// How many of one purpose an address may have at a time; the oldest go.
    package static let most = 10

    /// 24 hexadecimal digits.
    package var id: String
    package var app: String
    package var email: String
    package var purpose: Purpose
    /// SHA-256 in hexadecimal.
    package var digest: String
    /// The hash of the password that was registered with the address; only of tokens that `confirm`.
    package var passwordHash: String?
    /// Milliseconds of Unix time.
    package var expiresAt: UInt64

    package init(
        id: String, app: String, email: String, purpose: Purpose, digest: String, passwordHash: String?,
        expiresAt: UInt64
    ) {
        self.id = id
        self.app = app
        self.email = email
        self.purpose = purpose
        self.digest = digest
        self.passwordHash = passwordHash
        self.expiresAt = expiresAt
    }
}

/// Proofs that an address is somebody's, and what they are good for.
package protocol MailTokenStore: Sendable {
    /// Adds a token, and forgets some that have expired, and the address's oldest beyond `MailTokenRecord.most`.
    /// - Parameter now: milliseconds of Unix time.
    func insert(_ token: MailTokenRecord, at now: UInt64) async throws(StoreError)
    /// Nil if there is none, or it has expired.
    func mailToken(app: String, id: String, at now: UInt64) async throws(StoreError) -> MailTokenRecord?
    /// Uses up a token that confirms, and with it all others of its address: the account has the password of its
    /// registration from now on.
    /// - Returns: false if it is not there any more, or the account is confirmed already.
    func confirm(_ token: MailTokenRecord) async throws(StoreError) -> Bool
    /// Uses up a token that resets, and with it all others of its address: the account has the new password, is confirmed,
    /// and every login of its user is revoked.
    /// - Returns: false if it is not there any more.
    func resetPassword(_ token: MailTokenRecord, to hash: String) async throws(StoreError) -> Bool
}
