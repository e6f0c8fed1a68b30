import GRDB
import Storage

/// Admin tokens, and the log of what was done with them.
protocol SQLiteAdminStore: SQLiteControlPart {}

extension SQLiteAdminStore {
    func insert(_ token: AdminTokenRecord) async throws(StoreError) {
        try await write("the admin token") { db in
            guard try Int.fetchOne(db, sql: "SELECT 1 FROM admin_tokens WHERE name = ?", arguments: [token.name]) == nil
            else { throw StoreError(.alreadyExists, "there is an admin token \(token.name) already") }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM admin_tokens") ?? 0
            guard count < AdminTokenRecord.most else {
                throw StoreError(.alreadyExists, "there are \(count) admin tokens: revoke those that nobody uses")
            }
            try db.run(
                "INSERT INTO admin_tokens (name, digest, role, created_at, created_by) VALUES (?, ?, ?, ?, ?)",
                token.name, token.digest, token.role.rawValue, sqlInteger(token.createdAt), token.createdBy)
        }
    }

    func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try await write("the audit log") { db in try db.note(entry, keeping: most) }
    }
}

extension Database {
    /// Appends to the audit log.
    ///
    /// - Returns: the entry's number.
    @discardableResult
    func note(_ entry: AuditEntry, keeping most: Int) throws -> Int64 {
        try run(
            """
            INSERT INTO admin_audit (at, token, role, method, path, details, status, address, dry_run)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, sqlInteger(entry.at), entry.token, entry.role.rawValue, entry.method, entry.path, entry.details,
            entry.status, entry.address, entry.dryRun ?? false)
        let number = lastInsertedRowID
        try run("DELETE FROM admin_audit WHERE number <= ?", number - Int64(most))
        return number
    }
}
