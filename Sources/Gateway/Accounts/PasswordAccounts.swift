import Logging
import Storage

/// Accounts with e-mail address and password (docs/http-api.md, "Login").
struct PasswordAccounts: Sendable {
    static let provider = "local-userpass"

    let store: any AccountStore
    let sessions: LoginSessions
    let hasher: PasswordHasher
    let limits: LoginLimits
    let registerLimiter: RateLimiter
    let mails: MailedAccounts
    let metrics: GatewayMetrics
    let logger: Logger

    func register(app: AppRecord, email: String, password: String, address: ClientAddress) async throws {
        guard app.emailPasswordLogin else { throw APIError.providerNotFound }
        try registerLimiter.take(
            "\(app.id)|\(address.network)", orRefuse: "too many registrations from this address")
        let spelling = email
        let email = try Self.checked(email: email)
        try Self.check(password: password)
        let confirmURL = try await mails.settings(of: app.id)?.confirmURL
        if confirmURL != nil { try mails.limit(app: app.id, email: email, address: address) }
        let hash = try await hashing(app.id) { try await hasher.hash(password, app: app.id) }
        var record = PasswordRecord(
            app: app.id, email: email, spelling: spelling, passwordHash: hash, userID: nil)
        if confirmURL != nil {
            let known = try await store.password(app: app.id, email: email)?.pending.map(PendingRegistration.init)
            record.pending =
                PendingRegistration(origin: sessions.origin(app: app.id, of: email, address), replacing: known).text
        }
        do {
            try await store.register(record)
        } catch {
            throw error.code == .alreadyExists ? APIError.nameInUse : error
        }
        if let confirmURL {
            try await mails.send(.confirm, leadingTo: confirmURL, app: app.id, email: email, passwordHash: hash)
        }
        logger.info("account registered", metadata: ["app": "\(app.id)"])
    }

    /// - Parameter linked: whose account it is to be; nil: whose it is, or a new user's.
    func login(
        app: AppRecord, email: String, password: String, linkingTo linked: UserRecord?, address: ClientAddress
    ) async throws -> Login {
        guard app.emailPasswordLogin else { throw APIError.providerNotFound }
        let email = email.lowercased()
        // No account has such ones.
        guard Self.isAddress(email), Self.passwordBytes.contains(password.utf8.count) else {
            throw APIError.invalidPassword
        }
        let attempt = try await limits.begin(app: app.id, account: email, address: address) {
            guard let user = try await store.password(app: app.id, email: email)?.userID else { return false }
            return try await sessions.isKnown(address, app: app.id, user: user)
        }
        let record = try await store.password(app: app.id, email: email)
        let verification = try await hashing(app.id) {
            try await hasher.verify(password, against: record?.passwordHash, app: app.id)
        }
        guard let record, verification.matches else { throw APIError.invalidPassword }
        limits.succeeded(attempt)
        guard record.pending == nil else { throw APIError.confirmationRequired }
        if let hash = verification.rehashed {
            try await store.setPasswordHash(hash, replacing: record.passwordHash, app: app.id, email: email)
        }
        if let linked {
            return try await sessions.link(Self.provider, of: app.id, to: linked, from: address) {
                identity throws(StoreError) in
                try await store.link(email: email, to: linked.id, app: app.id, as: identity)
            }
        }
        let user = try await user(of: record)
        guard !user.isDisabled else { throw APIError.userDisabled }
        return try await sessions.open(user, provider: Self.provider, from: address)
    }

    /// Confirms an address with what its mail carried.
    func confirm(app: AppRecord, id: String, token: String, address: ClientAddress) async throws {
        let attempt = try limits.begin(app: app.id, address: address)
        let record = try await mails.token(.confirm, app: app.id, id: id, token: token)
        limits.succeeded(attempt)
        guard try await store.confirm(record) else { throw APIError.alreadyConfirmed }
        logger.info("account confirmed", metadata: ["app": "\(app.id)"])
    }

    /// Sends the confirming mail again, wherever the request comes from, unless several have registered the address
    /// (`PendingRegistration`). Whether there is a registration to confirm, the answer does not say.
    func sendConfirmation(app: AppRecord, email: String, address: ClientAddress) async throws {
        guard app.emailPasswordLogin else { throw APIError.providerNotFound }
        let email = try Self.checked(email: email)
        try mails.limit(address)
        let record = try await store.password(app: app.id, email: email)
        if let record, record.pending == nil { throw APIError.alreadyConfirmed }
        guard let url = try await mails.settings(of: app.id)?.confirmURL else { throw APIError.providerNotFound }
        try mails.limit(app: app.id, email: email)
        let origin = sessions.origin(app: app.id, of: email, address)
        guard let record, let pending = record.pending, PendingRegistration(pending).maySendMail(askedFrom: origin)
        else { return }
        try await mails.send(
            .confirm, leadingTo: url, app: app.id, email: email, passwordHash: record.passwordHash)
    }

    /// Sends a mail that allows a new password, if the address has an account; the answer does not say whether.
    func sendReset(app: AppRecord, email: String, address: ClientAddress) async throws {
        guard app.emailPasswordLogin, let url = try await mails.settings(of: app.id)?.resetURL else {
            throw APIError.providerNotFound
        }
        let email = try Self.checked(email: email)
        try mails.limit(app: app.id, email: email, address: address)
        guard let record = try await store.password(app: app.id, email: email), record.pending == nil else { return }
        try await mails.send(.reset, leadingTo: url, app: app.id, email: email, passwordHash: nil)
    }

    /// Sets a new password with what a mail carried. Every login of the user ends.
    func reset(app: AppRecord, id: String, token: String, password: String, address: ClientAddress) async throws {
        try Self.check(password: password)
        let attempt = try limits.begin(app: app.id, address: address)
        let record = try await mails.token(.reset, app: app.id, id: id, token: token)
        limits.succeeded(attempt)
        let hash = try await hashing(app.id) { try await hasher.hash(password, app: app.id) }
        guard try await store.resetPassword(record, to: hash) else { throw APIError.invalidMailToken }
        logger.info("password reset", metadata: ["app": "\(app.id)"])
    }

    /// The user of an account, who comes into being at the first login.
    private func user(of record: PasswordRecord) async throws -> UserRecord {
        var id = record.userID
        if id == nil {
            let user = sessions.newUser(app: record.app, provider: Self.provider, email: record.registeredEmail)
            id = try await store.adopt(user, app: record.app, email: record.email)
        }
        guard let id, let user = try await store.user(app: record.app, id: id) else { throw APIError.invalidPassword }
        return user
    }

    /// Has a password hashed. Where too many wait, the client hears when to come again, and nothing is logged: whoever
    /// floods the gateway would fill its log, too.
    private func hashing<Value: Sendable>(_ app: String, _ work: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        do {
            let value = try await work()
            metrics.passwordHashed(after: ContinuousClock.now - start)
            return value
        } catch let error as GatewayError where error.code == .overloaded {
            metrics.loginRefused(app: app, limit: "queue")
            throw APIError.tooManyLogins(error.message)
        }
    }

    private static let emailBytes = 3...320
    private static let passwordBytes = 6...128

    private static func check(password: String) throws {
        guard passwordBytes.contains(password.utf8.count) else {
            throw APIError.badRequest("password must be between 6 and 128 characters")
        }
    }

    private static func checked(email: String) throws -> String {
        let email = email.lowercased()
        // Characters, too: some have several bytes.
        guard isAddress(email), email.unicodeScalars.count >= emailBytes.lowerBound else {
            throw APIError.badRequest("invalid e-mail address")
        }
        return email
    }

    /// Whether a text may name an account. A store may take what ends at a U+0000 for all of the text, and so for another account's.
    private static func isAddress(_ email: String) -> Bool {
        emailBytes.contains(email.utf8.count) && !email.unicodeScalars.contains { $0.value < 0x21 }
    }
}
