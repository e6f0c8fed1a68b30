import Logging
import Storage
import SyncModel

/// Users, logins and tokens (docs/http-api.md).
final class AccountService: Sendable {
    struct Login: Sendable {
        var accessToken: String
        var refreshToken: String
        var userID: String
        var deviceID: String
    }

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
    private let hasher: PasswordHasher
    private let policy: TokenPolicy
    private let clock: GatewayClock
    private let logger: Logger
    private let loginLimiter: RateLimiter
    private let registerLimiter: RateLimiter
    private let anonymousLimiter: RateLimiter
    private let refreshLimiter: RateLimiter

    init(
        store: any AccountStore, apps: AppDirectory, tokens: TokenAuthority, hasher: PasswordHasher,
        configuration: GatewayConfiguration, clock: GatewayClock, logger: Logger
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.hasher = hasher
        self.policy = configuration.tokens
        self.clock = clock
        self.logger = logger
        loginLimiter = RateLimiter(rate: configuration.limits.loginRate, clock: clock)
        registerLimiter = RateLimiter(rate: configuration.limits.registerRate, clock: clock)
        anonymousLimiter = RateLimiter(rate: configuration.limits.anonymousRate, clock: clock)
        refreshLimiter = RateLimiter(rate: configuration.limits.refreshRate, clock: clock)
    }

    func app(_ id: String) async throws -> AppRecord {
        guard let app = try await apps.app(id) else { throw APIError.unknownApp }
        return app
    }

    func loginAnonymously(app id: String, address: String) async throws -> Login {
        let app = try await app(id)
        guard app.anonymousLogin else { throw APIError.providerNotFound }
        if let seconds = anonymousLimiter.retryAfter("\(id)|\(address)") { throw APIError.throttled(seconds) }
        let user = newUser(app: id, provider: "anon-user", email: nil)
        try await store.insert(user)
        return try await open(app: id, user: user.id, provider: "anon-user")
    }

    func register(app id: String, email: String, password: String, address: String) async throws {
        let app = try await app(id)
        guard app.emailPasswordLogin else { throw APIError.providerNotFound }
        if let seconds = registerLimiter.retryAfter("\(id)|\(address)") { throw APIError.throttled(seconds) }
        let email = try Self.checked(email: email)
        guard (6...128).contains(password.utf8.count) else {
            throw APIError.badRequest("password must be between 6 and 128 characters")
        }
        let hash = try await hasher.hash(password)
        let record = PasswordRecord(app: id, email: email, passwordHash: hash, userID: nil)
        do {
            try await store.register(record)
        } catch {
            throw error.code == .alreadyExists ? APIError.nameInUse : error
        }
        logger.info("account registered", metadata: ["app": "\(id)"])
    }

    func login(app id: String, email: String, password: String, address: String) async throws -> Login {
        let app = try await app(id)
        guard app.emailPasswordLogin else { throw APIError.providerNotFound }
        let email = email.lowercased()
        if let seconds = loginLimiter.retryAfter("\(id)|\(email.prefix(320))|\(address)") {
            throw APIError.throttled(seconds)
        }
        guard email.utf8.count <= 320, password.utf8.count <= 128 else { throw APIError.invalidPassword }
        let record = try await store.password(app: id, email: email)
        let verification = try await hasher.verify(password, against: record?.passwordHash)
        guard let record, verification.matches else { throw APIError.invalidPassword }
        if verification.needsRehash {
            try await store.setPasswordHash(try await hasher.hash(password), app: id, email: email)
        }
        var userID = record.userID
        if userID == nil {
            let user = newUser(app: id, provider: "local-userpass", email: email)
            userID = try await store.adopt(user, app: id, email: email)
        }
        guard let userID, let user = try await store.user(app: id, id: userID) else { throw APIError.invalidPassword }
        guard !user.isDisabled else { throw APIError.userDisabled }
        return try await open(app: id, user: user.id, provider: "local-userpass")
    }

    /// A new access token for a refresh token.
    func refresh(_ bearer: String) async throws -> String {
        let claims = try await verified(bearer, as: .refresh)
        if let seconds = refreshLimiter.retryAfter(claims.sid) { throw APIError.throttled(seconds) }
        let session = try await live(claims).session
        let now = clock.unixMilliseconds()
        // Not every refresh of a burst needs a write.
        if now > session.lastUsedAt &+ 60_000 { try await store.touchLoginSession(session.id, at: now) }
        return try await tokens.issue(
            .access, app: claims.aud, user: claims.sub, session: claims.sid, device: claims.did)
    }

    /// Revokes the login of a refresh token.
    func logout(_ bearer: String) async throws -> TokenClaims {
        let claims = try await verified(bearer, as: .refresh)
        try await store.revokeLoginSession(claims.sid)
        logger.info("logged out", metadata: ["app": "\(claims.aud)", "user": "\(claims.sub)", "sid": "\(claims.sid)"])
        return claims
    }

    /// Who holds this access token.
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

    private func newUser(app: String, provider: String, email: String?) -> UserRecord {
        let now = clock.unixMilliseconds()
        return UserRecord(
            app: app, id: ObjectID.make(at: now), identities: [.init(id: ObjectID.make(at: now), provider: provider)],
            email: email, isDisabled: false, createdAt: now)
    }

    private func open(app: String, user: String, provider: String) async throws -> Login {
        let now = clock.unixMilliseconds()
        let session = LoginSessionRecord(
            id: ObjectID.make(at: now), app: app, userID: user, deviceID: ObjectID.make(at: now), createdAt: now,
            lastUsedAt: now, expiresAt: now &+ policy.refreshLifetime.milliseconds, isRevoked: false)
        try await store.insert(session)
        let login = Login(
            accessToken: try await tokens.issue(
                .access, app: app, user: user, session: session.id, device: session.deviceID),
            refreshToken: try await tokens.issue(
                .refresh, app: app, user: user, session: session.id, device: session.deviceID),
            userID: user, deviceID: session.deviceID)
        logger.info(
            "logged in",
            metadata: ["app": "\(app)", "user": "\(user)", "sid": "\(session.id)", "provider": "\(provider)"])
        return login
    }

    private static func checked(email: String) throws -> String {
        let email = email.lowercased()
        guard (3...320).contains(email.utf8.count), !email.unicodeScalars.contains(where: { $0.value < 0x21 }) else {
            throw APIError.badRequest("invalid e-mail address")
        }
        return email
    }
}
