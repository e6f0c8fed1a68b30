package import PostgreSQL
package import Storage

/// The tables of one part of a cluster's stores, in the steps by which they came to be as they are. The table `sluice_schema` says
/// which of the steps a database has gone.
package struct PostgresSchema: Sendable {
    /// `slice` or `control`.
    package let part: String
    /// Statements of each version; never changed once released.
    package let versions: [[String]]

    package init(part: String, versions: [[String]]) {
        self.part = part
        self.versions = versions
    }

    /// The version that the database has; nil if it has nothing of this part.
    package func version(_ client: PostgresClient) async throws(StoreError) -> Int? {
        do throws(PostgresError) {
            return try await client.query("SELECT version FROM sluice_schema WHERE part = $1", .text(part))
                .first.map { Int($0.int(0)) }
        } catch {
            guard error.kind == .undefinedTable else { throw StoreError(error, place(client)) }
            return nil
        }
    }

    /// Says whether the tables are those that this version of Sluice works with.
    /// - Throws: `mismatch`, `notFound`.
    package func require(_ client: PostgresClient) async throws(StoreError) {
        guard let version = try await version(client) else {
            throw StoreError(.notFound, "\(place(client)) has no tables: sluice store init makes them")
        }
        try check(version, client)
        guard version == versions.count else {
            throw StoreError(
                .mismatch,
                """
                \(place(client)) has tables of version \(version), and this version of Sluice works with \(versions.count): \
                sluice store migrate brings them there
                """)
        }
    }

    /// Makes the schema and its tables, or brings them to this version. Does nothing, and needs no right to, if they are.
    package func migrate(_ client: PostgresClient) async throws(StoreError) {
        let found = try await version(client) ?? 0
        try check(found, client)
        guard found < versions.count else { return }
        do {
            try await bootstrap(client)
            try await client.withTransaction { transaction in
                // Others that migrate at the same time wait here, and find it done.
                let row = try await transaction.query(
                    "SELECT version FROM sluice_schema WHERE part = $1 FOR UPDATE", .text(part)
                ).first
                let version = row.map { Int($0.int(0)) } ?? 0
                try check(version, client)
                guard version < versions.count else { return }
                var pipeline = PostgresPipeline()
                for statement in versions[version...].joined() { pipeline.add(statement) }
                pipeline.add(
                    "UPDATE sluice_schema SET version = $2 WHERE part = $1", .text(part), .int(Int64(versions.count)))
                _ = try await transaction.commit(pipeline)
            }
        } catch {
            throw StoreError(any: error, "\(place(client)) cannot be made ready")
        }
    }

    private func bootstrap(_ client: PostgresClient) async throws(PostgresError) {
        let schema = client.configuration.searchPath ?? "public"
        let name = "\"\(schema.replacing("\"", with: "\"\""))\""
        var attempt = 1
        while true {
            do throws(PostgresError) {
                // Each for itself: some servers do not mix them with what reads them.
                try await client.execute("CREATE SCHEMA IF NOT EXISTS \(name)")
                try await client.execute(
                    "CREATE TABLE IF NOT EXISTS sluice_schema (part text PRIMARY KEY, version bigint NOT NULL)")
                try await client.execute(
                    "INSERT INTO sluice_schema (part, version) VALUES ($1, 0) ON CONFLICT (part) DO NOTHING",
                    .text(part))
                return
            } catch {
                // IF NOT EXISTS does not hold among those that make it at the same moment.
                let isThere = error.kind == .unique || ["42710", "42P06", "42P07"].contains(error.sqlState)
                guard isThere || error.isRetriable, attempt < 5 else { throw error }
                attempt += 1
            }
        }
    }

    private func check(_ version: Int, _ client: PostgresClient) throws(StoreError) {
        guard version <= versions.count else {
            throw StoreError(
                .mismatch,
                """
                \(place(client)) was written by a newer version of Sluice: its tables are of version \(version), and this \
                one knows \(versions.count)
                """)
        }
    }

    private func place(_ client: PostgresClient) -> String {
        "the \(part) store at \(client.configuration.place), schema \(client.configuration.searchPath ?? "public"),"
    }
}
