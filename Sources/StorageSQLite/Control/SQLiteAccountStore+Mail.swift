import GRDB
import Storage

extension SQLiteAccountStore {
    func insert(_ token: MailTokenRecord, at now: UInt64) async throws(StoreError) {
        try await write("the mail's token") { db in
            // A few at a time keeps the table as large as what still lives.
            try db.run(
                """
                DELETE FROM mail_tokens WHERE id IN
                    (SELECT id FROM mail_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT 20)
                """, sqlInteger(now))
            try db.run(
                """
                INSERT INTO mail_tokens (id, app, email, purpose, digest, hash, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
                """, token.id, token.app, token.email, token.purpose.rawValue, token.digest, token.passwordHash,
                sqlInteger(token.expiresAt))
            try db.run(
                """
                DELETE FROM mail_tokens WHERE id IN
                    (SELECT id FROM mail_tokens WHERE app = ? AND email = ? AND purpose = ?
                     ORDER BY expires_at DESC, id DESC LIMIT -1 OFFSET ?)
                """, token.app, token.email, token.purpose.rawValue, MailTokenRecord.most)
        }
    }

    func confirm(_ token: MailTokenRecord) async throws(StoreError) -> Bool {
        try await write("the registration") { db in
            guard try Self.isThere(token, db) else { return false }
            try db.run(
                "UPDATE passwords SET hash = IFNULL(?, hash), pending = NULL WHERE app = ? AND email = ? AND pending IS NOT NULL",
                token.passwordHash, token.app, token.email)
            let isConfirmed = db.changesCount > 0
            try Self.useUp(token, db)
            return isConfirmed
        }
    }

    func resetPassword(_ token: MailTokenRecord, to hash: String) async throws(StoreError) -> Bool {
        try await write("the registration") { db in
            guard try Self.isThere(token, db) else { return false }
            try db.run(
                "UPDATE passwords SET hash = ?, pending = NULL WHERE app = ? AND email = ?", hash, token.app,
                token.email)
            guard db.changesCount > 0 else { return false }
            let user = try String.fetchOne(
                db, sql: "SELECT user FROM passwords WHERE app = ? AND email = ?", arguments: [token.app, token.email])
            if let user {
                try db.run("UPDATE login_sessions SET revoked = 1 WHERE app = ? AND user = ?", token.app, user)
                try Self.usersChanged(app: token.app, user: user, db)
            }
            try Self.useUp(token, db)
            return true
        }
    }

    private static func isThere(_ token: MailTokenRecord, _ db: Database) throws -> Bool {
        try Int.fetchOne(
            db, sql: "SELECT 1 FROM mail_tokens WHERE id = ? AND digest = ?", arguments: [token.id, token.digest])
            != nil
    }

    private static func useUp(_ token: MailTokenRecord, _ db: Database) throws {
        try db.run("DELETE FROM mail_tokens WHERE app = ? AND email = ?", token.app, token.email)
    }
}
