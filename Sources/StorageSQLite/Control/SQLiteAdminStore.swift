import GRDB
import Storage

/// Admin tokens, and the log of what was done with them.
struct SQLiteAdminStore: AdminStore, SQLiteControlPart {
    let database: any DatabaseWriter

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

    func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord? {
        try await read("the admin token") { db in
            try Row.fetchOne(db, sql: "SELECT * FROM admin_tokens WHERE digest = ?", arguments: [digest])
                .map(AdminTokenRecord.init(row:))
        }
    }

    func adminTokens() async throws(StoreError) -> [AdminTokenRecord] {
        try await read("the admin tokens") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM admin_tokens ORDER BY name").map(AdminTokenRecord.init(row:))
        }
    }

    func removeAdminToken(_ name: String) async throws(StoreError) {
        try await write("the admin token") { db in
            try db.run("DELETE FROM admin_tokens WHERE name = ?", name)
            guard db.changesCount > 0 else { throw StoreError(.notFound, "there is no admin token \(name)") }
        }
    }

    func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try await write("the audit log") { db in
            try db.run(
                """
                INSERT INTO admin_audit (at, token, role, method, path, details, status) VALUES (?, ?, ?, ?, ?, ?, ?)
                """, sqlInteger(entry.at), entry.token, entry.role.rawValue, entry.method, entry.path, entry.details,
                entry.status)
            let number = db.lastInsertedRowID
            try db.run("DELETE FROM admin_audit WHERE number <= ?", number - Int64(most))
            return number
        }
    }

    func endAudit(_ number: Int64, status: Int, details: String?) async throws(StoreError) {
        try await write("the audit log") { db in
            try db.run("UPDATE admin_audit SET status = ?, details = ? WHERE number = ?", status, details, number)
        }
    }

    func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await read("the audit log") { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM admin_audit WHERE number < ? ORDER BY number DESC LIMIT ?",
                arguments: [before ?? .max, max(limit, 0)]
            ).map(AuditEntry.init(row:))
        }
    }
}

/// A role that this version does not know may do least.
private func role(_ row: Row) -> AdminRole { AdminRole(rawValue: row["role"]) ?? .read }

extension AdminTokenRecord {
    fileprivate init(row: Row) {
        self.init(
            name: row["name"], digest: row["digest"], role: StorageSQLite.role(row),
            createdAt: row.unsigned("created_at"), createdBy: row["created_by"])
    }
}

extension AuditEntry {
    fileprivate init(row: Row) {
        self.init(
            number: row["number"], at: row.unsigned("at"), token: row["token"], role: StorageSQLite.role(row),
            method: row["method"], path: row["path"], details: row["details"], status: row["status"])
    }
}
