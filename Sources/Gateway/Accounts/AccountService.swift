import Logging
import Storage

/// Users, logins and tokens (docs/http-api.md).
final class AccountService: Sendable {
    /// Whether a token may open a sync connection.
    enum SyncAuthorization: Sendable {
        case allowed(TokenClaims)
        /// The client should refresh its token: HTTP 401 or close 4001.
        case refresh(String)
        /// The client should log out: HTTP 403 or close 4002.
        case forbidden(String)
    }

    private let store: any AccountStore
    private let apps: AppDirectory
    let tokens: TokenAuthority
    private let sessions: LoginSessions
    let passwords: PasswordAccounts
    let apiKeys: APIKeyAccounts
    let foreign: TokenAccounts
    private let clock: GatewayClock
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let anonymousLimiter: RateLimiter
    private let refreshLimiter: RateLimiter

    init(
        store: any AccountStore, apps: AppDirectory, tokens: TokenAuthority, hasher: PasswordHasher,
        foreignKeys: ForeignKeys, mails: MailRoom, configuration: GatewayConfiguration, clock: GatewayClock,
        metrics: GatewayMetrics,
        logger: Logger
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        sessions = LoginSessions(
            store: store, tokens: tokens, policy: configuration.tokens, clock: clock, logger: logger)
        let limits = LoginLimits(configuration.limits.failedLogins, clock: clock, metrics: metrics)
        apiKeys = APIKeyAccounts(store: store, sessions: sessions, limits: limits, logger: logger)
        foreign = TokenAccounts(store: store, sessions: sessions, limits: limits, keys: foreignKeys, logger: logger)
        passwords = PasswordAccounts(
            store: store, sessions: sessions, hasher: hasher, limits: limits,
            registerLimiter: RateLimiter(rate: configuration.limits.registerRate, clock: clock),
            mails: MailedAccounts(
                store: store, mails: mails, clock: clock,
                perMailbox: RateLimiter(rate: configuration.limits.mailboxRate, clock: clock),
                perAddress: RateLimiter(rate: configuration.limits.mailAddressRate, clock: clock),
                perApp: RateLimiter(rate: configuration.limits.mailAppRate, clock: clock)), metrics: metrics,
            logger: logger)
        anonymousLimiter = RateLimiter(rate: configuration.limits.anonymousRate, clock: clock)
        refreshLimiter = RateLimiter(rate: configuration.limits.refreshRate, clock: clock)
    }

    /// - Parameter isAllowed: whether settings that are remembered say what the caller needs; if not, the newest are asked.
    func app(_ id: String, allowing isAllowed: (AppRecord) -> Bool = { _ in true }) async throws -> AppRecord {
        guard let app = try await apps.app(id, allowing: isAllowed) else { throw APIError.unknownApp }
        metrics.see(app: id)
        return app
    }

    func loginAnonymously(app id: String, address: ClientAddress) async throws -> Login {
        let app = try await app(id, allowing: \.anonymousLogin)
        guard app.anonymousLogin else { throw APIError.providerNotFound }
        try anonymousLimiter.take("\(id)|\(address.network)", orRefuse: "too many new users from this address")
        let user = sessions.newUser(app: id, provider: "anon-user", email: nil)
        try await store.insert(user)
        return try await sessions.open(user, provider: "anon-user", from: address)
    }

    /// Returns the user who wants to log in in a further way from now on: the user of an access token of the app.
    func linkingUser(_ bearer: String, app: String) async throws -> UserRecord {
        let (claims, user) = try await authenticate(bearer)
        guard claims.aud == app else { throw APIError.anotherApp }
        return user
    }

    /// What other services say of a user.
    func foreignProfile(of user: UserRecord) async throws -> [String: String] {
        try await store.externalIdentities(app: user.app, user: user.id).reduce(into: [:]) { profile, identity in
            profile.merge(identity.profile) { first, _ in first }
        }
    }

    /// Returns the user who holds this refresh token.
    func authenticate(refresh bearer: String) async throws -> UserRecord {
        let claims = try await verified(bearer, as: .refresh)
        try refreshLimiter.take(claims.sid, orRefuse: "too many requests of this login")
        return try await live(claims).user
    }

    /// A new access token for a refresh token.
    func refresh(_ bearer: String) async throws -> String {
        let claims = try await verified(bearer, as: .refresh)
        try refreshLimiter.take(claims.sid, orRefuse: "too many refreshes of this login")
        let (session, user) = try await live(claims)
        let now = clock.unixMilliseconds()
        // Not every refresh of a burst needs a write.
        if now > session.lastUsedAt &+ 60_000 { try await store.touchLoginSession(session.id, at: now) }
        return try await tokens.issueAccess(
            to: user, session: claims.sid, device: claims.did, provider: claims.prv)
    }

    /// Revokes the login of a refresh token.
    func logout(_ bearer: String) async throws -> TokenClaims {
        let claims = try await verified(bearer, as: .refresh)
        try await store.revokeLoginSession(claims.sid)
        logger.info("logged out", metadata: ["app": "\(claims.aud)", "user": "\(claims.sub)", "sid": "\(claims.sid)"])
        return claims
    }

    /// Deletes the user who holds this access token, with whatever it could log in with. What it wrote stays.
    func deleteUser(_ bearer: String) async throws -> TokenClaims {
        let (claims, user) = try await authenticate(bearer)
        try await store.removeUser(app: user.app, id: user.id)
        logger.info("user deleted", metadata: ["app": "\(user.app)", "user": "\(user.id)"])
        return claims
    }

    /// Returns the claims of this access token and the user who holds it.
    func authenticate(_ bearer: String) async throws -> (claims: TokenClaims, user: UserRecord) {
        let claims = try await verified(bearer, as: .access)
        return (claims, try await live(claims).user)
    }

    func authorizeSync(token: String, app: String) async throws -> SyncAuthorization {
        let claims: TokenClaims
        do {
            claims = try await tokens.verify(token, as: .access)
        } catch .unavailable {
            throw APIError.storeUnavailable
        } catch {
            return .refresh(error == .expired ? "token expired" : "invalid token")
        }
        guard claims.aud == app else { return .forbidden("the token is for another app") }
        return try await recheck(claims)
    }

    /// Whether the login behind a token still holds.
    func recheck(_ claims: TokenClaims) async throws -> SyncAuthorization {
        guard let user = try await store.user(app: claims.aud, id: claims.sub) else {
            return .refresh("invalid session")
        }
        guard !user.isDisabled else { return .forbidden("user disabled") }
        guard let session = try await store.loginSession(claims.sid), isLive(session, claims) else {
            return .refresh("invalid session")
        }
        return .allowed(claims)
    }

    private func verified(_ bearer: String, as kind: TokenKind) async throws -> TokenClaims {
        do {
            return try await tokens.verify(bearer, as: kind)
        } catch .missing {
            throw APIError.noBearer
        } catch .unavailable {
            throw APIError.storeUnavailable
        } catch {
            throw APIError.invalidSession
        }
    }

    /// The login and user of a token; both must still hold.
    private func live(_ claims: TokenClaims) async throws -> (session: LoginSessionRecord, user: UserRecord) {
        guard let session = try await store.loginSession(claims.sid), isLive(session, claims),
            let user = try await store.user(app: claims.aud, id: claims.sub), !user.isDisabled
        else { throw APIError.invalidSession }
        return (session, user)
    }

    private func isLive(_ session: LoginSessionRecord, _ claims: TokenClaims) -> Bool {
        !session.isRevoked && session.expiresAt > clock.unixMilliseconds() && session.app == claims.aud
            && session.userID == claims.sub
    }
}

extension AppDirectory {
    /// An app by settings that may be remembered, unless what they say is no: then it is the newest that do, since a refusal
    /// may be for good, and they may have changed a moment ago.
    func app(_ id: String, allowing isAllowed: (AppRecord) -> Bool) async throws(StoreError) -> AppRecord? {
        if case .some(.some(let known)) = remembered(id), isAllowed(known) { return known }
        return try await latest(id)
    }
}
