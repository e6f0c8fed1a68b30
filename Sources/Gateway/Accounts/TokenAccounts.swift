import Foundation
import Logging
import Storage

/// Logins with tokens that another service has signed (docs/http-api.md, "Custom tokens").
struct TokenAccounts: Sendable {
    static let provider = "custom-token"

    let store: any AccountStore
    let sessions: LoginSessions
    let limits: LoginLimits
    let keys: ForeignKeys
    let logger: Logger

    /// - Parameter linked: whom the service is to call so; nil: whom it does, or a new user.
    func login(
        app: AppRecord, token: String, linkingTo linked: UserRecord?, address: ClientAddress
    ) async throws -> Login {
        let settings = try await settings(of: app.id)
        let attempt = try limits.begin(app: app.id, address: address)
        let verified: ForeignToken
        do {
            verified = try await verify(token, by: settings, app: app.id)
        } catch let refused as ForeignToken.Refused {
            logger.info(
                "a token of another service was refused", metadata: ["app": "\(app.id)", "reason": "\(refused.reason)"])
            throw APIError.invalidForeignToken
        }
        limits.succeeded(attempt)
        if let linked {
            return try await sessions.link(Self.provider, of: app.id, to: linked, from: address) {
                identity throws(StoreError) in
                try await store.link(
                    externalID: verified.subject, profile: verified.profile, to: linked.id, app: app.id, as: identity)
            }
        }
        let candidate = sessions.newUser(app: app.id, provider: Self.provider, email: nil)
        let id = try await store.adopt(
            candidate, provider: Self.provider, externalID: verified.subject, profile: verified.profile)
        guard let user = try await store.user(app: app.id, id: id) else { throw APIError.invalidForeignToken }
        guard !user.isDisabled else { throw APIError.userDisabled }
        return try await sessions.open(user, provider: Self.provider, from: address)
    }

    private func verify(
        _ token: String, by settings: TokenLoginSettings, app: String
    ) async throws -> ForeignToken {
        let header = try ForeignToken.Header(of: token)
        guard settings.algorithms.contains(header.algorithm) else {
            throw ForeignToken.Refused("its algorithm is not among those of the app's settings")
        }
        let key: ForeignToken.ForeignKey?
        do {
            key =
                if let secret = settings.secret {
                    .secret(secret)
                } else {
                    try await keys.key(header, of: settings).map { .pair($0) }
                }
        } catch {
            logger.warning(
                "the keys of another service cannot be fetched",
                metadata: ["app": "\(app)", "url": "\(settings.jwksURL ?? "")", "error": "\(type(of: error))"])
            throw APIError.storeUnavailable
        }
        guard let key else { throw ForeignToken.Refused("the service has no key that it names") }
        return try await ForeignToken(
            token, by: settings, app: app, header: header, key: key, now: sessions.clock.unixSeconds)
    }

    private func settings(of app: String) async throws -> TokenLoginSettings {
        guard let stored = try await store.loginSettings(app: app, provider: Self.provider) else {
            throw APIError.providerNotFound
        }
        do {
            return try JSONDecoder().decode(TokenLoginSettings.self, from: stored)
        } catch {
            logger.error("an app's login settings cannot be read", metadata: ["app": "\(app)"])
            throw APIError.internalError
        }
    }
}
