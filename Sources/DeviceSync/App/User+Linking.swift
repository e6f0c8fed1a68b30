extension User {
    /// Adds another way to log in to this account.
    ///
    /// - Returns: this user, whose `identities` have one more.
    /// - Throws: `AppError`; `.unknown` for `.anonymous`, which is no account to log in to again.
    @discardableResult
    public func linkUser(credentials: Credentials) async throws -> User {
        if case .anonymous = credentials {
            throw AppError(.unknown, "anonymous credentials cannot be linked to a user")
        }
        // Credentials that are wrong are refused by the same status as a token.
        let newToken = try await core.withAccessToken(of: id, isRefusal: { $0.code == .invalidSession }) { [core] in
            try await core.http.link(credentials, accessToken: $0)
        }
        let profile = try await core.http.profile(accessToken: newToken)
        try await FileQueue.run { [core, id] in core.users.renew(id, accessToken: newToken, profile) }
        core.userListeners.call()
        return self
    }

    /// Adds another way to log in to this account, then calls `completion`; see `linkUser(credentials:)`.
    public func linkUser(
        credentials: Credentials, completion: @Sendable @escaping (Result<User, any Error>) -> Void
    ) {
        core.syncManager.callbackQueue.complete(completion) { try await self.linkUser(credentials: credentials) }
    }

    /// Renews the access token, and with it `customData`, then calls `completion`.
    public func refreshCustomData(completion: @Sendable @escaping (Result<Document, any Error>) -> Void) {
        core.syncManager.callbackQueue.complete(completion) { try await self.refreshCustomData() }
    }

    /// Adds another way to log in to this account, then calls `completion`; see `linkUser(credentials:)`.
    @_disfavoredOverload
    public func linkUser(
        credentials: Credentials, _ completion: @Sendable @escaping (Result<User, any Error>) -> Void
    ) {
        linkUser(credentials: credentials, completion: completion)
    }

    /// Renews the access token, and with it `customData`, then calls `completion`.
    @_disfavoredOverload
    public func refreshCustomData(_ completion: @Sendable @escaping (Result<Document, any Error>) -> Void) {
        refreshCustomData(completion: completion)
    }
}

/// Takes a user, or why there is none.
public typealias UserCompletionBlock = @Sendable (User?, (any Error)?) -> Void
