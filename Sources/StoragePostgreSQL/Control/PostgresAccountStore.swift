import Storage

/// Users, their ways to log in, and what signs their tokens.
struct PostgresAccountStore: AccountStore {
    let database: PostgresControlDatabase

    // MARK: Users

    func user(app: String, id: String) async throws(StoreError) -> UserRecord? {
        try await database.read("the user") { queries in
            try await queries.rows("SELECT * FROM users WHERE app = $1 AND id = $2", app, id).first
                .map(UserRecord.init(row:))
        }
    }

    func insert(_ user: UserRecord) async throws(StoreError) {
        try await database.change("the user") { try await Self.insert(user, $0) }
    }

    func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord] {
        try await database.read("the users") { queries in
            try await queries.rows(
                "SELECT * FROM users WHERE app = $1 AND id > $2 ORDER BY id LIMIT $3", app, after ?? "", max(limit, 0)
            ).map(UserRecord.init(row:))
        }
    }

    func userCount(app: String) async throws(StoreError) -> Int {
        try await database.read("the number of users") { queries in
            try await queries.rows("SELECT count(*) AS count FROM users WHERE app = $1", app).first?.integer("count")
                ?? 0
        }
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

    func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await database.read("the changes of users") { queries in
            // In one statement, so that the version and the changes are of one moment.
            let rows = try await queries.rows(
                """
                SELECT users_version, version, "user" FROM apps
                LEFT JOIN user_changes ON user_changes.app = apps.id AND version > $2 WHERE apps.id = $1
                """, app, version)
            guard let newest = try rows.first?.unsigned("users_version"), newest >= version else { return nil }
            let changes = try rows.filter { try $0.integerIfAny("version") != nil }
            guard UInt64(changes.count) == newest - version else { return nil }
            var users: Set<String> = []
            for change in changes {
                guard let user = try change.textIfAny("user") else { return nil }
                users.insert(user)
            }
            return users
        }
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

    func register(_ password: PasswordRecord) async throws(StoreError) {
        let count = try await database.run(
            "the registration",
            """
            INSERT INTO passwords AS known (app, email, hash, "user", pending) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (app, email) DO UPDATE SET hash = excluded.hash, pending = excluded.pending
                WHERE known.pending IS NOT NULL
            """, password.app, password.email, password.passwordHash, password.userID, password.pending)
        guard count > 0 else { throw StoreError(.alreadyExists, "the address is registered already") }
    }

    func password(app: String, email: String) async throws(StoreError) -> PasswordRecord? {
        try await database.read("the registration") { queries in
            try await queries.rows("SELECT * FROM passwords WHERE app = $1 AND email = $2", app, email).first
                .map(PasswordRecord.init(row:))
        }
    }

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

extension UserRecord {
    init(row: ControlRow) throws {
        self.init(
            app: try row.text("app"), id: try row.text("id"),
            identities: try Identity.list(storedText: try row.text("identities")), email: try row.textIfAny("email"),
            isDisabled: try row.boolean("disabled"), createdAt: try row.unsigned("created_at"),
            customData: try row.textIfAny("custom_data"))
    }
}

extension PasswordRecord {
    fileprivate init(row: ControlRow) throws {
        self.init(
            app: try row.text("app"), email: try row.text("email"), passwordHash: try row.text("hash"),
            userID: try row.textIfAny("user"), pending: try row.textIfAny("pending"))
    }
}
