/// A database role of the least rights that one role of the cluster's processes needs.
package enum PostgresRole: String, Sendable, CaseIterable {
    case gateway, worker, coordinator

    /// The role's name in the database: roles belong to the whole server, so the cluster's schema is part of it.
    package func name(in schema: String) -> String { "\(schema)_\(rawValue)" }

    /// What the role may do with the control store's tables: the privileges, then the tables.
    ///
    /// A row is locked for a change by those who may update it: for that alone, a column that the role may write is enough.
    var controlGrants: [(privileges: String, tables: [String])] {
        switch self {
        case .gateway:
            [
                (
                    "SELECT",
                    ["sluice_schema", "settings", "apps", "app_rules", "app_schema", "app_deletions", "login_settings"]
                ),
                ("UPDATE (users_version)", ["apps"]),
                (
                    "SELECT, INSERT, UPDATE, DELETE",
                    [
                        "users", "user_changes", "passwords", "login_sessions", "api_keys", "external_identities",
                        "mail_tokens",
                    ]
                ),
                ("SELECT, INSERT", ["signing_keys"]),
                ("SELECT, UPDATE", ["locks"]),
                ("INSERT, UPDATE", ["settings"]),
            ]
        case .worker:
            [
                (
                    "SELECT",
                    ["sluice_schema", "settings", "apps", "app_rules", "app_schema", "app_deletions", "user_changes"]
                ),
                ("UPDATE (schema_version)", ["apps"]),
                ("INSERT", ["app_schema"]),
                ("INSERT, UPDATE", ["settings"]),
            ]
        case .coordinator:
            [
                ("SELECT", ["sluice_schema"]),
                ("SELECT, INSERT, UPDATE, DELETE", PostgresControlSchema.names.filter { $0 != "locks" }),
                ("SELECT, UPDATE", ["locks"]),
            ]
        }
    }

    /// What the role may do with the slices' tables.
    var slicePrivileges: String? {
        switch self {
        case .gateway: nil
        case .worker: "SELECT, INSERT, UPDATE, DELETE"
        // The coordinator says beforehand what a termination or an erasure would reach.
        case .coordinator: "SELECT"
        }
    }

    /// The statements that give the role its rights, and take away any others.
    ///
    /// - Parameter sliceTables: the names of the slices' tables.
    package func grants(schema: String, sliceTables: [String]) -> [String] {
        let role = quoted(name(in: schema))
        func table(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }
        var statements = [
            "REVOKE ALL ON ALL TABLES IN SCHEMA \(quoted(schema)) FROM \(role)",
            "GRANT USAGE ON SCHEMA \(quoted(schema)) TO \(role)",
        ]
        for (privileges, tables) in controlGrants {
            statements.append("GRANT \(privileges) ON \(tables.map(table).joined(separator: ", ")) TO \(role)")
        }
        if let slicePrivileges, !sliceTables.isEmpty {
            statements.append(
                "GRANT \(slicePrivileges) ON \(sliceTables.map(table).joined(separator: ", ")) TO \(role)")
        }
        return statements
    }
}

/// A name as PostgreSQL takes it.
func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
