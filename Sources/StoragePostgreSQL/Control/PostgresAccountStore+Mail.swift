import Storage

extension PostgresAccountStore {
    func insert(_ token: MailTokenRecord, at now: UInt64) async throws(StoreError) {
        try await database.change("the mail's token") { transaction in
            // A few at a time keeps the table as large as what still lives.
            try await transaction.run(
                """
                DELETE FROM mail_tokens WHERE id IN
                    (SELECT id FROM mail_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT 20
                     FOR UPDATE SKIP LOCKED)
                """, now)
            try await transaction.run(
                """
                INSERT INTO mail_tokens (id, app, email, purpose, digest, hash, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                """, token.id, token.app, token.email, token.purpose.rawValue, token.digest, token.passwordHash,
                token.expiresAt)
            try await transaction.run(
                """
                DELETE FROM mail_tokens WHERE id IN
                    (SELECT id FROM mail_tokens WHERE app = $1 AND email = $2 AND purpose = $3
                     ORDER BY expires_at DESC, id DESC OFFSET $4)
                """, token.app, token.email, token.purpose.rawValue, MailTokenRecord.most)
        }
    }

    func confirm(_ token: MailTokenRecord) async throws(StoreError) -> Bool {
        try await database.change("the registration") { transaction in
            guard try await Self.useUp(token, transaction) else { return false }
            return try await transaction.run(
                """
                UPDATE passwords SET hash = coalesce($1, hash), pending = NULL
                WHERE app = $2 AND email = $3 AND pending IS NOT NULL
                """, token.passwordHash, token.app, token.email) > 0
        }
    }

    func resetPassword(_ token: MailTokenRecord, to hash: String) async throws(StoreError) -> Bool {
        try await database.change("the registration") { transaction in
            guard try await Self.useUp(token, transaction) else { return false }
            let changed = try await transaction.rows(
                "UPDATE passwords SET hash = $1, pending = NULL WHERE app = $2 AND email = $3 RETURNING \"user\"", hash,
                token.app, token.email)
            guard let changed = changed.first else { return false }
            if let user = try changed.textIfAny("user") {
                try await transaction.run(
                    "UPDATE login_sessions SET revoked = true WHERE app = $1 AND \"user\" = $2", token.app, user)
                try await Self.usersChanged(app: token.app, user: user, transaction)
            }
            return true
        }
    }

    /// Removes a token, and with it all others of its address.
    ///
    /// - Returns: false if it is not there any more.
    private static func useUp(_ token: MailTokenRecord, _ transaction: ControlTransaction) async throws -> Bool {
        let gone = try await transaction.run(
            "DELETE FROM mail_tokens WHERE id = $1 AND digest = $2", token.id, token.digest)
        guard gone > 0 else { return false }
        try await transaction.run("DELETE FROM mail_tokens WHERE app = $1 AND email = $2", token.app, token.email)
        return true
    }
}
