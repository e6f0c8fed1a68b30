/// Limits logins by password: the failed ones of an address, of an account and of an app.
///
/// An attempt is charged before its password is looked at, so that many at one time count too, and given back if the
/// password was right: people who know their passwords do not use up anything. A stranger can use up an account's
/// attempts, but only those from addresses that the account was never used from; addresses that it was used from have
/// attempts of their own.
final class LoginLimits: Sendable {
    /// An attempt under way.
    struct Attempt: Sendable {
        fileprivate var charges: [(limiter: RateLimiter, key: String)] = []
    }

    private let ofAddress: RateLimiter
    private let ofAccount: RateLimiter
    private let ofKnownAddress: RateLimiter
    private let ofApp: RateLimiter
    private let metrics: GatewayMetrics

    init(_ limits: GatewayLimits.FailedLogins, clock: GatewayClock, metrics: GatewayMetrics) {
        ofAddress = RateLimiter(rate: limits.address, clock: clock)
        ofAccount = RateLimiter(rate: limits.account, clock: clock)
        ofKnownAddress = RateLimiter(rate: limits.knownAddress, clock: clock)
        ofApp = RateLimiter(rate: limits.app, clock: clock)
        self.metrics = metrics
    }

    /// An attempt with something that names no account until it is found to be right.
    /// - Throws: `APIError`, 429, that says when to come again.
    func begin(app: String, address: ClientAddress) throws -> Attempt {
        var attempt = Attempt()
        if let seconds = attempt.charge(ofAddress, address.network) {
            throw refusal(seconds, app, "address", "too many failed logins from this address")
        }
        return attempt
    }

    /// - Parameters:
    ///   - account: as it was given; nobody may learn from a limit whether it exists.
    ///   - isKnown: whether somebody has logged in to the account from this address; asked only if it matters.
    /// - Throws: `APIError`, 429, that says when to come again.
    func begin(
        app: String, account: String, address: ClientAddress, isKnown: () async throws -> Bool
    ) async throws -> Attempt {
        var attempt = try begin(app: app, address: address)
        let account = "\(app)|\(account)"
        let isSpent = attempt.charge(ofAccount, account)
        let spentInApp = isSpent == nil ? attempt.charge(ofApp, app) : nil
        guard let seconds = isSpent ?? spentInApp else { return attempt }
        // The address stays charged: who is refused here costs a look at the store.
        guard try await isKnown() else {
            if isSpent == nil { attempt.giveBack(ofAccount) }
            throw refusal(
                seconds, app, isSpent == nil ? "app" : "account",
                "too many failed logins to this \(isSpent == nil ? "app" : "account")")
        }
        if let seconds = attempt.charge(ofKnownAddress, "\(account)|\(address.network)") {
            throw refusal(seconds, app, "account", "too many failed logins to this account")
        }
        return attempt
    }

    /// The password was right.
    func succeeded(_ attempt: Attempt) {
        for charge in attempt.charges { charge.limiter.giveBack(charge.key) }
    }

    private func refusal(_ seconds: Int, _ app: String, _ limit: String, _ what: String) -> APIError {
        metrics.loginRefused(app: app, limit: limit)
        return .throttled(seconds, what)
    }
}

extension LoginLimits.Attempt {
    /// Takes one token, or says in how many seconds there is one.
    fileprivate mutating func charge(_ limiter: RateLimiter, _ key: String) -> Int? {
        if let seconds = limiter.retryAfter(key) { return seconds }
        charges.append((limiter, key))
        return nil
    }

    fileprivate mutating func giveBack(_ limiter: RateLimiter) {
        charges.removeAll { charge in
            guard charge.limiter === limiter else { return false }
            limiter.giveBack(charge.key)
            return true
        }
    }
}
