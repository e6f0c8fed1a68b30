package import PostgreSQL
package import Storage

/// The tables of one part of a cluster's stores, in the steps by which they came to be as they are. The table `sluice_schema` says
/// which of the steps a database has gone: how many that made a new version of the tables, and how many additions. Earlier
/// releases know of versions alone, so additions leave the tables theirs.
package struct PostgresSchema: Sendable {
    /// Statements; never changed once released.
    package struct Step: Sendable {
        package var statements: [String]
        /// Processes that do not know of it go on with the tables: it makes tables, indexes, and columns with defaults, and whatever
        /// such processes write means the same as before.
        package var isAddition: Bool

        package static func version(_ statements: [String]) -> Step { Step(statements: statements, isAddition: false) }
        package static func addition(_ statements: [String]) -> Step { Step(statements: statements, isAddition: true) }
    }

    /// How many steps of each kind a database has gone.
    package struct Level: Sendable, Equatable {
        package var version: Int
        package var additions: Int

        package init(version: Int, additions: Int) {
            self.version = version
            self.additions = additions
        }

        package var steps: Int { version + additions }
    }

    /// `slice` or `control`.
    package let part: String
    package let steps: [Step]

    package init(part: String, steps: [Step]) {
        self.part = part
        self.steps = steps
    }

    package var latest: Level {
        let additions = steps.count { $0.isAddition }
        return Level(version: steps.count - additions, additions: additions)
    }

    /// The level that the database has; nil if it has nothing of this part.
    package func level(_ client: PostgresClient) async throws(StoreError) -> Level? {
        do throws(PostgresError) {
            return try await client.run(
                PostgresPipeline(Self.reading, [.text(part)]), hurry: PostgresControlDatabase.hurry)[0].first.map(
                    Level.init)
        } catch {
            guard error.kind == .undefinedTable else { throw StoreError(error, "\(place(client)) cannot be read") }
            return nil
        }
    }

    /// Earlier releases have made the table without additions.
    private static let reading = """
        SELECT version, coalesce((to_jsonb(s) ->> 'additions')::bigint, 0) FROM sluice_schema AS s WHERE part = $1
        """

    /// Says whether the tables are those that this version of Sluice works with.
    /// - Throws: `mismatch`, `notFound`.
    package func require(_ client: PostgresClient) async throws(StoreError) {
        guard let level = try await level(client) else {
            throw StoreError(.notFound, "\(place(client)) has no tables: sluice store init makes them")
        }
        try check(level, client)
        guard level.version == latest.version, level.additions >= latest.additions else {
            throw StoreError(
                .mismatch,
                """
                \(place(client)) has tables of version \(level.steps), and this version of Sluice works with \(steps.count): \
                sluice store migrate brings them there
                """)
        }
    }

    /// Whether all that the tables lack are additions: processes of the release that made them go on while they come.
    package func lacksAdditionsOnly(_ level: Level) -> Bool {
        level.version == latest.version && level.additions < latest.additions
    }

    /// Makes the schema and its tables, or brings them to this version. Does nothing, and needs no right to, if they are.
    package func migrate(_ client: PostgresClient) async throws(StoreError) {
        let found = try await level(client) ?? Level(version: 0, additions: 0)
        try check(found, client)
        guard found.steps < steps.count else { return }
        do {
            try await bootstrap(client)
            try await client.withTransaction { transaction in
                // Other processes that migrate at the same time wait here, and find it done.
                let row = try await transaction.query("\(Self.reading) FOR UPDATE", .text(part)).first
                let level = row.map(Level.init) ?? Level(version: 0, additions: 0)
                try check(level, client)
                guard level.steps < steps.count else { return }
                var pipeline = PostgresPipeline()
                for statement in steps[level.steps...].flatMap(\.statements) { pipeline.add(statement) }
                pipeline.add(
                    "UPDATE sluice_schema SET version = $2, additions = $3 WHERE part = $1", .text(part),
                    .int(Int64(latest.version)), .int(Int64(latest.additions)))
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
                // Each statement is sent for itself: some servers do not mix statements that make a table with what
                // reads it.
                try await client.execute("CREATE SCHEMA IF NOT EXISTS \(name)")
                try await client.execute(
                    "CREATE TABLE IF NOT EXISTS sluice_schema (part text PRIMARY KEY, version bigint NOT NULL)")
                try await client.execute(
                    "ALTER TABLE sluice_schema ADD COLUMN IF NOT EXISTS additions bigint NOT NULL DEFAULT 0")
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

    private func check(_ level: Level, _ client: PostgresClient) throws(StoreError) {
        guard level.version <= latest.version else {
            throw StoreError(
                .mismatch,
                """
                \(place(client)) was written by a newer version of Sluice: its tables are of version \(level.steps), and this \
                one knows \(steps.count)
                """)
        }
    }

    private func place(_ client: PostgresClient) -> String {
        "the \(part) store at \(client.configuration.place), schema \(client.configuration.searchPath ?? "public"),"
    }
}

extension PostgresSchema.Level {
    fileprivate init(_ row: PostgresRow) { self.init(version: Int(row.int(0)), additions: Int(row.int(1))) }
}
