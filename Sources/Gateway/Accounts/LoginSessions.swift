import Crypto
import Foundation
import Logging
import Storage
import SyncModel

/// A user that has logged in: what the login answers.
struct Login: Sendable {
    var accessToken: String
    var refreshToken: String
    var userID: String
    var deviceID: String
}

/// What only its holder knows, such as an API key or what a mail carries. Stores keep its digest alone.
enum Credential {
    static func make() -> String { HexBytes(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }).hex }

    static func digest(_ text: String) -> String { HexBytes(Array(SHA256.hash(data: Data(text.utf8)))).hex }
}

/// Opens logins: a row in the store, which is what a refresh token is worth, and the tokens that name it.
struct LoginSessions: Sendable {
    let store: any AccountStore
    let tokens: TokenAuthority
    let policy: TokenPolicy
    let clock: GatewayClock
    let logger: Logger

    func open(_ user: UserRecord, provider: String, from address: ClientAddress) async throws -> Login {
        let now = clock.unixMilliseconds()
        let session = LoginSessionRecord(
            id: ObjectID.make(at: now), app: user.app, userID: user.id, deviceID: ObjectID.make(at: now),
            createdAt: now, lastUsedAt: now, expiresAt: now &+ policy.refreshLifetime.milliseconds, isRevoked: false,
            origin: origin(app: user.app, of: user.id, address))
        try await store.insert(session)
        let login = Login(
            accessToken: try await tokens.issueAccess(
                to: user, session: session.id, device: session.deviceID, provider: provider),
            refreshToken: try await tokens.issueRefresh(
                to: user, session: session.id, device: session.deviceID, provider: provider),
            userID: user.id, deviceID: session.deviceID)
        logger.info(
            "logged in",
            metadata: [
                "app": "\(user.app)", "user": "\(user.id)", "sid": "\(session.id)", "provider": "\(provider)",
            ])
        return login
    }

    /// Whether a login of the user that the store still has was made from the address.
    func isKnown(_ address: ClientAddress, app: String, user: String) async throws -> Bool {
        try await store.hasLoginSession(
            app: app, user: user, origin: origin(app: app, of: user, address))
    }

    func newUser(app: String, provider: String, email: String?) -> UserRecord {
        let now = clock.unixMilliseconds()
        return UserRecord(
            app: app, id: ObjectID.make(at: now), identities: [.init(id: ObjectID.make(at: now), provider: provider)],
            email: email, isDisabled: false, createdAt: now)
    }

    /// Has a user log in in a further way from now on, and opens a login of theirs.
    ///
    /// - Parameter note: stores the identity that it is given.
    func link(
        _ provider: String, of app: String, to user: UserRecord, from address: ClientAddress,
        _ note: (UserRecord.Identity) async throws(StoreError) -> Void
    ) async throws -> Login {
        do throws(StoreError) {
            try await note(.init(id: ObjectID.make(at: clock.unixMilliseconds()), provider: provider))
        } catch {
            throw APIError.notLinked(error)
        }
        return try await open(user, provider: provider, from: address)
    }

    /// Tells one address of a user from another without saying which it is.
    func origin(app: String, of user: String, _ address: ClientAddress) -> String {
        let digest = SHA256.hash(data: Data("\(app)|\(user)|\(address.network)".utf8))
        return HexBytes(Array(digest.prefix(16))).hex
    }
}
