package import PostgreSQL
package import Storage

/// A cluster's schema in a database as operators make it, look at it and bring it up to date.
package struct PostgresInstallation: Sendable {
    package struct Part: Sendable, Equatable {
        package var name: String
        /// How many steps the tables have gone; nil: there is nothing of it.
        package var version: Int?
        /// How many steps this version of Sluice knows.
        package var latest: Int
        /// Only a newer version of Sluice can use the tables.
        package var isTooNew = false
        /// Whether the tables' missing parts can be added while processes of the release that made them run.
        package var lacksAdditionsOnly = false
    }

    /// The findings of a check.
    package struct Facts: Sendable {
        package var server: String
        package var parts: [Part]
        package var isReadOnly: Bool
        /// The failures that an acknowledged change survives.
        package var durability: StoreDurability
        /// The obstacle that keeps commits from being acknowledged, and what to do about it.
        package var obstacle: String?
        /// Whether the database role may change tables: that of a process should not.
        package var mayChangeTables: Bool
    }

    private let client: PostgresClient
    private let schema: String

    /// - Parameter client: its `searchPath` is the cluster's schema.
    package init(_ client: PostgresClient) {
        self.client = client
        schema = client.configuration.searchPath ?? "public"
    }

    package var place: String { client.storePlace }

    private static let schemas = [PostgresControlSchema.schema, PostgresSliceSchema.schema]

    package func parts() async throws(StoreError) -> [Part] {
        var parts: [Part] = []
        for schema in Self.schemas {
            let level = try await schema.level(client)
            var part = Part(name: schema.part, version: nil, latest: schema.steps.count)
            if let level, level.steps > 0 {
                part.version = level.steps
                part.isTooNew = level.version > schema.latest.version
                part.lacksAdditionsOnly = schema.lacksAdditionsOnly(level)
            }
            parts.append(part)
        }
        return parts
    }

    /// Makes the tables where there are none.
    ///
    /// - Returns: whether there were none.
    /// - Throws: `mismatch` for older and newer ones, and for a schema of something else.
    package func make() async throws(StoreError) -> Bool {
        let found = try await parts()
        if found.allSatisfy({ $0.version == nil }) {
            let others = try await query(
                """
                SELECT count(*) FROM information_schema.tables
                WHERE table_schema = $1 AND table_name <> 'sluice_schema'
                """, .text(schema)
            ).first?.int(0)
            guard others == 0 else {
                throw StoreError(
                    .mismatch,
                    "\(place) has tables of something else: give the cluster a schema of its own (?schema=NAME in store.url)"
                )
            }
        }
        for (part, schema) in zip(found, Self.schemas) where part.version == nil { try await schema.migrate(client) }
        try await require()
        return found.contains { $0.version == nil }
    }

    /// Brings the tables to this version.
    /// - Returns: what has changed.
    package func migrate() async throws(StoreError) -> [Part] {
        let found = try await parts()
        guard found.contains(where: { $0.version != nil }) else {
            throw StoreError(.notFound, "there is no store at \(place): sluice store init makes one")
        }
        // Before any is changed: one of them may be newer.
        for part in found where part.isTooNew { try await require() }
        for schema in Self.schemas { try await schema.migrate(client) }
        return found.filter { $0.version ?? 0 < $0.latest }
    }

    /// - Throws: `notFound`, `mismatch`.
    package func require() async throws(StoreError) {
        for schema in Self.schemas { try await schema.require(client) }
    }

    package func facts() async throws(StoreError) -> Facts {
        let row = try await query(
            """
            SELECT current_setting('server_version'), pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
                coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'CREATE'), false),
                \(PostgresDurability.selecting)
            """, .text(quoted(schema))
        ).first
        guard let row else { throw StoreError(.corrupt, "\(place) answers nothing") }
        return Facts(
            server: row.text(0), parts: try await parts(), isReadOnly: row.bool(1),
            durability: PostgresDurability(row, at: 3).extent,
            obstacle: try await PostgresStoreInspector(client).obstacle(), mayChangeTables: row.bool(2))
    }

    // MARK: Roles

    /// The statements that make the least-rights roles and give them what they need.
    ///
    /// - Parameters:
    ///   - passwords: as `ScramVerifier` writes them; a role without one logs in by what the server's pg_hba.conf says.
    ///   - existing: roles that are there already.
    package func statements(
        passwords: [PostgresRole: ScramVerifier], existing: Set<String>, sliceTables: [String]
    ) -> [String] {
        PostgresRole.allCases.flatMap { role in
            let name = role.name(in: schema)
            var statements: [String] = []
            if !existing.contains(name) { statements.append("CREATE ROLE \(quoted(name)) LOGIN") }
            if let password = passwords[role] {
                statements.append("ALTER ROLE \(quoted(name)) PASSWORD '\(password.text)'")
            }
            return statements + role.grants(schema: schema, sliceTables: sliceTables)
        }
    }

    /// - Returns: the statements that make the roles, or have made them.
    package func makeRoles(
        passwords: [PostgresRole: ScramVerifier], applying: Bool
    ) async throws(StoreError) -> [String] {
        let roles = try await query("SELECT rolname::text FROM pg_roles", nil)
        let tables = try await query(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1", .text(schema))
        let control = Set(PostgresControlSchema.names + ["sluice_schema"])
        let statements = statements(
            passwords: passwords, existing: Set(roles.map { $0.text(0) }),
            sliceTables: tables.map { $0.text(0) }.filter { !control.contains($0) })
        guard applying else { return statements }
        var pipeline = PostgresPipeline()
        for statement in statements { pipeline.add(statement) }
        do throws(PostgresError) {
            _ = try await client.run(pipeline, .write())
        } catch {
            throw StoreError(error, "the database roles cannot be made; nothing was changed")
        }
        return statements
    }

    private func query(_ sql: String, _ value: PostgresValue?) async throws(StoreError) -> PostgresRows {
        do throws(PostgresError) {
            return try await client.run(PostgresPipeline(sql, value.map { [$0] } ?? []), .reads)[0]
        } catch {
            throw StoreError(error, "\(place) cannot be looked at")
        }
    }
}
