import Storage

extension PostgresAccountStore {
    func link(
        email: String, to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try await database.change("the user's identities") { transaction in
            let registered = try await Self.registered(app: app, email: email, transaction)
            guard registered.userID != user else { return }
            guard registered.userID == nil else { throw StoreError.linkedElsewhere }
            try await Self.link(
                identity, email: registered.registeredEmail, to: user, app: app, transaction)
            try await transaction.run(
                "UPDATE passwords SET \"user\" = $1 WHERE app = $2 AND email = $3", user, app, email)
        }
    }

    func link(
        externalID: String, profile: [String: String], to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try await database.change("the user's identities") { transaction in
            let (owner, isNew) = try await Self.put(
                provider: identity.provider, externalID: externalID, profile: profile, of: user, app: app, transaction)
            guard owner == user else { throw StoreError.linkedElsewhere }
            if isNew { try await Self.link(identity, email: nil, to: user, app: app, transaction) }
        }
    }

    /// Notes what a service says of somebody, and makes them `user` if they are nobody yet. Whoever comes second with the same
    /// person waits for the first.
    ///
    /// - Returns: which user it is, and whether that was not known before.
    static func put(
        provider: String, externalID: String, profile: [String: String], of user: String, app: String,
        _ transaction: ControlTransaction
    ) async throws -> (user: String, isNew: Bool) {
        let text = try ExternalIdentity.storedText(ofProfile: profile)
        let made = try await transaction.run(
            """
            INSERT INTO external_identities (app, provider, external_id, "user", profile) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (app, provider, external_id) DO NOTHING
            """, app, provider, externalID, user, text)
        if made > 0 { return (user, true) }
        let rows = try await transaction.rows(
            """
            UPDATE external_identities SET profile = $1 WHERE app = $2 AND provider = $3 AND external_id = $4
            RETURNING "user"
            """, text, app, provider, externalID)
        guard let known = try rows.first?.text("user") else {
            throw StoreError(.unavailable, "the identity went while it was looked at")
        }
        return (known, false)
    }

    private static func link(
        _ identity: UserRecord.Identity, email: String?, to id: String, app: String, _ transaction: ControlTransaction
    ) async throws {
        let rows = try await transaction.rows("SELECT * FROM users WHERE app = $1 AND id = $2 FOR UPDATE", app, id)
        guard var user = try rows.first.map(UserRecord.init(row:)) else {
            throw StoreError(.notFound, "there is no user \(id) of app \(app)")
        }
        user.link(identity, email: email)
        try await transaction.run(
            "UPDATE users SET identities = $1, email = $2 WHERE app = $3 AND id = $4",
            try UserRecord.Identity.storedText(user.identities), user.email, app, id)
        try await usersChanged(app: app, user: id, transaction)
    }
}
