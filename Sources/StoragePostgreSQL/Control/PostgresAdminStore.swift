import PostgreSQL
import Storage

/// Admin tokens, and the log of what was done with them.
protocol PostgresAdminStore: PostgresControlPart {}

extension PostgresAdminStore {
    func insert(_ token: AdminTokenRecord) async throws(StoreError) {
        try await database.change("the admin token") { transaction in
            try await transaction.lock(.adminTokens)
            let count = try await transaction.rows("SELECT count(*) AS count FROM admin_tokens").first?.integer("count")
            guard try await transaction.rows("SELECT 1 FROM admin_tokens WHERE name = $1", token.name).isEmpty else {
                throw StoreError(.alreadyExists, "there is an admin token \(token.name) already")
            }
            guard let count, count < AdminTokenRecord.most else {
                throw StoreError(.alreadyExists, "there are \(count ?? 0) admin tokens: revoke those that nobody uses")
            }
            try await transaction.run(
                "INSERT INTO admin_tokens (name, digest, role, created_at, created_by) VALUES ($1, $2, $3, $4, $5)",
                token.name, token.digest, token.role.rawValue, token.createdAt, token.createdBy)
        }
    }

    func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try await database.change("the audit log") { transaction in
            let rows = PostgresControlRow.list(
                try await transaction.answer(AuditEntry.inserting, PostgresValue.list(entry.arguments)))
            guard let number = try rows.first?.integer("number") else {
                throw StoreError(.corrupt, "an entry of the audit log was inserted and got no number")
            }
            try await transaction.run("DELETE FROM admin_audit WHERE number <= $1", number - most)
            return Int64(number)
        }
    }
}

extension AuditEntry {
    static let inserting = """
        INSERT INTO admin_audit (at, token, role, method, path, details, status, address, dry_run)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number
        """

    /// The arguments of `inserting`.
    var arguments: [any ControlArgument] {
        [at, token, role.rawValue, method, path, details, status, address, dryRun ?? false]
    }
}
