import Storage

// MARK: - Logins

extension PostgresAccountStore {
    func insert(_ session: LoginSessionRecord) async throws(StoreError) {
        // A few at a time keeps the table as large as what still lives.
        try await database.run(
            "the login session",
            """
            WITH old AS (DELETE FROM login_sessions WHERE id IN
                (SELECT id FROM login_sessions WHERE expires_at < $5 ORDER BY expires_at LIMIT 20
                 FOR UPDATE SKIP LOCKED))
            INSERT INTO login_sessions (id, app, "user", device, created_at, last_used_at, expires_at, revoked, origin)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """, session.id, session.app, session.userID, session.deviceID, session.createdAt, session.lastUsedAt,
            session.expiresAt, session.isRevoked, session.origin)
    }

    func revokeLoginSessions(app: String, user: String?) async throws(StoreError) -> Int {
        try await database.change("the login sessions") { transaction in
            _ = try await AppRecord.locked(app, transaction)
            let count = try await transaction.run(
                """
                UPDATE login_sessions SET revoked = true
                WHERE app = $1 AND NOT revoked AND "user" = coalesce($2, "user")
                """, app, user)
            try await Self.usersChanged(app: app, user: user, transaction)
            return count
        }
    }
}

// MARK: - Signing keys

extension PostgresAccountStore {
    func signingKeys(
        purpose: String, orCreate candidate: SigningKeyRecord
    ) async throws(StoreError) -> [SigningKeyRecord] {
        let known = try await database.read("the signing keys") { try await Self.signingKeys(purpose: purpose, $0) }
        if !known.isEmpty { return known }
        return try await database.change("the signing keys") { transaction in
            try await transaction.lock(.signingKeys)
            let known = try await Self.signingKeys(purpose: purpose, transaction)
            if !known.isEmpty { return known }
            guard candidate.purpose == purpose else {
                throw StoreError(.mismatch, "the new key is for \(candidate.purpose), expected \(purpose)")
            }
            try await Self.insert(candidate, transaction)
            return [candidate]
        }
    }

    func addSigningKey(_ key: SigningKeyRecord, unlessNewerThan limit: UInt64) async throws(StoreError) -> Bool {
        try await database.change("the signing keys") { transaction in
            try await transaction.lock(.signingKeys)
            let newest = try await Self.signingKeys(purpose: key.purpose, transaction).first?.createdAt
            if let newest, newest > limit { return false }
            var key = key
            key.createdAt = max(key.createdAt, newest.map { $0 &+ 1 } ?? 0)
            try await Self.insert(key, transaction)
            return true
        }
    }

    func removeSigningKeys(_ ids: [String]) async throws(StoreError) {
        try await database.run("the signing keys", "DELETE FROM signing_keys WHERE id = ANY($1)", ids)
    }

    private static func insert(_ key: SigningKeyRecord, _ transaction: ControlTransaction) async throws {
        try await transaction.run(
            "INSERT INTO signing_keys (id, purpose, pem, created_at) VALUES ($1, $2, $3, $4)", key.id, key.purpose,
            key.privateKeyPEM, key.createdAt)
    }

    private static func signingKeys(
        purpose: String, _ queries: some ControlQueries
    ) async throws -> [SigningKeyRecord] {
        try await queries.rows("SELECT * FROM signing_keys WHERE purpose = $1 ORDER BY created_at DESC, id", purpose)
            .map(SigningKeyRecord.init(row:))
    }
}
