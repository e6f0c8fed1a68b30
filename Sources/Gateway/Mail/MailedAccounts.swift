import Foundation
import Storage
import SyncModel

/// Proving by mail that an address is one's own: confirmation of a registration, and new passwords for forgotten ones.
struct MailedAccounts: Sendable {
    /// How long a mail is good for, in milliseconds.
    static let lifetime: UInt64 = 30 * 60_000

    let store: any AccountStore
    let mails: MailRoom
    let clock: GatewayClock
    let perMailbox: RateLimiter
    let perAddress: RateLimiter
    let perApp: RateLimiter

    func settings(of app: String) async throws -> EmailLoginSettings? {
        try await store.loginSettings(app: app, provider: PasswordAccounts.provider).map {
            try JSONDecoder().decode(EmailLoginSettings.self, from: $0)
        }
    }

    /// - Throws: `APIError`: 429 if the mailbox, the address or the app had too many mails, 503 if nobody sends any.
    func limit(app: String, email: String, address: ClientAddress) throws {
        try limit(address)
        try limit(app: app, email: email)
    }

    /// - Throws: `APIError`: 429 if the address has asked too often.
    func limit(_ address: ClientAddress) throws {
        try perAddress.take(address.network, orRefuse: "too many mails asked for from this address")
    }

    /// - Throws: `APIError`: 429 if the mailbox or the app had too many mails, 503 if nobody sends any.
    func limit(app: String, email: String) throws {
        try mails.checkOpen(for: app)
        try perMailbox.take("\(app)|\(email)", orRefuse: "too many mails to this mailbox")
        try perApp.take(app, orRefuse: "too many mails of this app")
    }

    /// Sends a mail whose reader can prove that the address is theirs.
    func send(
        _ purpose: MailTokenRecord.Purpose, leadingTo url: String, app: String, email: String, passwordHash: String?
    ) async throws {
        let now = clock.unixMilliseconds()
        let token = Credential.make()
        let record = MailTokenRecord(
            id: ObjectID.make(at: now), app: app, email: email, purpose: purpose, digest: Credential.digest(token),
            passwordHash: passwordHash, expiresAt: now &+ Self.lifetime)
        try await store.insert(record, at: now)
        try mails.send(
            Mail(
                app: app, kind: purpose.rawValue, email: email, token: token, tokenId: record.id,
                link: EmailLoginSettings.link(url, token: token, tokenID: record.id), expiresAt: record.expiresAt))
    }

    /// The token that a mail carried.
    /// - Throws: `APIError`, 400, for one that is wrong, used or has expired.
    func token(
        _ purpose: MailTokenRecord.Purpose, app: String, id: String, token: String
    ) async throws -> MailTokenRecord {
        guard id.utf8.count <= 64, token.utf8.count <= 256,
            let record = try await store.mailToken(app: app, id: id, at: clock.unixMilliseconds()),
            record.purpose == purpose, record.digest == Credential.digest(token)
        else { throw APIError.invalidMailToken }
        return record
    }
}
