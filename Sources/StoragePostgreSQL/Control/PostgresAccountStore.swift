import Storage

/// Users, their ways to log in, and what signs their tokens.
protocol PostgresAccountStore: PostgresControlPart {}

extension PostgresAccountStore {
    // MARK: Users

    func insert(_ user: UserRecord) async throws(StoreError) {
        try await database.change("the user") { try await Self.insert(user, $0) }
    }

    func setDisabled(_ disabled: Bool, app: String, user: String) async throws(StoreError) {
        try await database.change("the user") { transaction in
            let count = try await transaction.run(
                "UPDATE users SET disabled = $1 WHERE app = $2 AND id = $3", disabled, app, user)
            try await Self.userChanged(app: app, user: user, count, transaction)
        }
    }

    func setCustomData(_ customData: String?, app: String, user: String) async throws(StoreError) {
        let customData = try UserRecord.checked(customData: customData)
        try await database.change("the user's custom data") { transaction in
            let count = try await transaction.run(
                "UPDATE users SET custom_data = $1 WHERE app = $2 AND id = $3", customData, app, user)
            try await Self.userChanged(app: app, user: user, count, transaction)
        }
    }

    func removeUser(app: String, id: String) async throws(StoreError) {
        try await database.change("the user") { transaction in
            let count = try await transaction.run("DELETE FROM users WHERE app = $1 AND id = $2", app, id)
            try await Self.removeWhatIsOf([id], app: app, transaction)
            try await transaction.run(
                """
                WITH gone AS (DELETE FROM passwords WHERE app = $1 AND "user" = $2 RETURNING email)
                DELETE FROM mail_tokens WHERE app = $1 AND email IN (SELECT email FROM gone)
                """, app, id)
            try await Self.userChanged(app: app, user: id, count, transaction)
        }
    }

    /// What belongs to users and goes with them, but for their addresses.
    static func removeWhatIsOf(_ users: [String], app: String, _ transaction: ControlTransaction) async throws {
        for table in ["login_sessions", "api_keys", "external_identities"] {
            try await transaction.run("DELETE FROM \(table) WHERE app = $1 AND \"user\" = ANY($2)", app, users)
        }
    }

    /// - Parameter count: how many users have been changed.
    private static func userChanged(
        app: String, user: String, _ count: Int, _ transaction: ControlTransaction
    ) async throws {
        guard count > 0 else { throw StoreError(.notFound, "there is no user \(user) of app \(app)") }
        try await usersChanged(app: app, user: user, transaction)
    }

    /// - Parameter user: the one that was changed; nil if all may have been.
    static func usersChanged(app: String, user: String?, _ transaction: ControlTransaction) async throws {
        try await transaction.run(
            """
            WITH now AS (UPDATE apps SET users_version = users_version + 1 WHERE id = $1 RETURNING id, users_version),
                old AS (DELETE FROM user_changes USING now
                    WHERE app = now.id AND version <= now.users_version - $3)
            INSERT INTO user_changes (app, version, "user") SELECT id, users_version, $2 FROM now
            ON CONFLICT (app, version) DO UPDATE SET "user" = excluded."user"
            """, app, user, UserRecord.keptChanges)
    }

    static func insert(_ user: UserRecord, _ transaction: ControlTransaction) async throws {
        let count = try await transaction.run(
            """
            INSERT INTO users (app, id, identities, email, disabled, created_at, custom_data)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (app, id) DO NOTHING
            """, user.app, user.id, try UserRecord.Identity.storedText(user.identities), user.email, user.isDisabled,
            user.createdAt, user.customData)
        guard count > 0 else {
            throw StoreError(.alreadyExists, "there is a user \(user.id) of app \(user.app) already")
        }
    }

    // MARK: Addresses

    /// An address that no other transaction changes before this one has ended.
    /// - Throws: `notFound`.
    static func registered(
        app: String, email: String, _ transaction: ControlTransaction
    ) async throws -> PasswordRecord {
        let rows = try await transaction.rows(
            "SELECT * FROM passwords WHERE app = $1 AND email = $2 FOR UPDATE", app, email)
        guard let row = rows.first else { throw StoreError(.notFound, "the address is not registered") }
        return try PasswordRecord(row: row)
    }

    func setPasswordHash(
        _ hash: String, replacing old: String, app: String, email: String
    ) async throws(StoreError) {
        try await database.change("the registration") { transaction in
            let registered = try await Self.registered(app: app, email: email, transaction)
            guard registered.passwordHash == old else { return }
            try await transaction.run(
                "UPDATE passwords SET hash = $1 WHERE app = $2 AND email = $3", hash, app, email)
        }
    }

    func adopt(_ user: UserRecord, app: String, email: String) async throws(StoreError) -> String {
        try await database.change("the user") { transaction in
            let registered = try await Self.registered(app: app, email: email, transaction)
            if let known = registered.userID { return known }
            try await Self.insert(user, transaction)
            try await transaction.run(
                "UPDATE passwords SET \"user\" = $1 WHERE app = $2 AND email = $3", user.id, app, email)
            return user.id
        }
    }
}
