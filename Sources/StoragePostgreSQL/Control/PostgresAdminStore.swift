import Storage

/// Admin tokens, and the log of what was done with them.
struct PostgresAdminStore: AdminStore {
    let database: PostgresControlDatabase

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

    func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord? {
        try await database.read("the admin token") { queries in
            try await queries.rows("SELECT * FROM admin_tokens WHERE digest = $1", digest).first
                .map(AdminTokenRecord.init(row:))
        }
    }

    func adminTokens() async throws(StoreError) -> [AdminTokenRecord] {
        try await database.read("the admin tokens") { queries in
            try await queries.rows("SELECT * FROM admin_tokens ORDER BY name").map(AdminTokenRecord.init(row:))
        }
    }

    func removeAdminToken(_ name: String) async throws(StoreError) {
        let count = try await database.run("the admin token", "DELETE FROM admin_tokens WHERE name = $1", name)
        guard count > 0 else { throw StoreError(.notFound, "there is no admin token \(name)") }
    }

    func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try await database.change("the audit log") { transaction in
            let rows = try await transaction.rows(
                """
                INSERT INTO admin_audit (at, token, role, method, path, details, status)
                VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING number
                """, entry.at, entry.token, entry.role.rawValue, entry.method, entry.path, entry.details, entry.status)
            guard let number = try rows.first?.integer("number") else {
                throw StoreError(.corrupt, "an entry of the audit log was inserted and got no number")
            }
            try await transaction.run("DELETE FROM admin_audit WHERE number <= $1", number - most)
            return Int64(number)
        }
    }

    func endAudit(_ number: Int64, status: Int, details: String?) async throws(StoreError) {
        try await database.run(
            "the audit log", "UPDATE admin_audit SET status = $1, details = $2 WHERE number = $3", status, details,
            number)
    }

    func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await database.read("the audit log") { queries in
            try await queries.rows(
                "SELECT * FROM admin_audit WHERE number < $1 ORDER BY number DESC LIMIT $2", before ?? .max,
                max(limit, 0)
            ).map(AuditEntry.init(row:))
        }
    }
}

/// A role that this version does not know may do least.
private func role(_ row: ControlRow) throws -> AdminRole { AdminRole(rawValue: try row.text("role")) ?? .read }

extension AdminTokenRecord {
    fileprivate init(row: ControlRow) throws {
        self.init(
            name: try row.text("name"), digest: try row.text("digest"), role: try StoragePostgreSQL.role(row),
            createdAt: try row.unsigned("created_at"), createdBy: try row.text("created_by"))
    }
}

extension AuditEntry {
    fileprivate init(row: ControlRow) throws {
        self.init(
            number: Int64(try row.integer("number")), at: try row.unsigned("at"), token: try row.text("token"),
            role: try StoragePostgreSQL.role(row), method: try row.text("method"), path: try row.text("path"),
            details: try row.textIfAny("details"), status: try row.integerIfAny("status"))
    }
}
