package import PostgreSQL
package import Storage
package import SyncModel

/// The stores in a schema as their realms are divided among more slices, while no process uses the schema. The rows never leave
/// the database.
package struct PostgresGrowth: GrowingStore {
    private let client: PostgresClient

    /// - Parameter client: of the role that owns the tables.
    package init(_ client: PostgresClient) { self.client = client }

    package var place: String { client.storePlace }

    private func read(_ sql: String, _ values: PostgresValue...) async throws(StoreError) -> PostgresRows {
        do throws(PostgresError) {
            return try await client.run(PostgresPipeline(sql, values), .reads)[0]
        } catch {
            throw StoreError(error, "\(place) cannot be read")
        }
    }

    private func write(_ pipeline: PostgresPipeline) async throws(StoreError) {
        do throws(PostgresError) {
            _ = try await client.run(pipeline, .write())
        } catch {
            throw StoreError(error, "\(place) cannot be changed")
        }
    }

    // MARK: The cluster

    package func growth() async throws(StoreError) -> (cluster: ClusterRecord, growth: SliceGrowth?) {
        try await settings().growth(at: place)
    }

    private func settings() async throws(StoreError) -> ClusterSettings {
        ClusterSettings(
            try await read("SELECT name, value FROM settings").reduce(into: [:]) { $0[$1.string(0)] = $1.string(1) })
    }

    package func sliceCount() async throws(StoreError) -> SliceCount { try await settings().growingCount() }

    package func record(_ growth: SliceGrowth?, made: [SliceNumber: Epoch]) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        guard let growth else {
            pipeline.add("DELETE FROM settings WHERE name = $1", .text(SliceGrowth.setting))
            return try await write(pipeline)
        }
        let values = growth.settings(made: made)
        pipeline.add(
            """
            INSERT INTO settings (name, value) SELECT * FROM unnest($1::text[], $2::text[])
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, .texts(Array(values.keys)), .texts(Array(values.values)))
        try await write(pipeline)
    }

    package func requireRights() async throws(StoreError) {
        let may = try await read(
            """
            SELECT has_table_privilege('realms', 'INSERT') AND has_table_privilege('realms', 'DELETE')
                AND has_table_privilege('ownership', 'INSERT') AND has_table_privilege('settings', 'DELETE')
            """)
        guard may.first?.bool(0) == true else {
            throw StoreError(
                .denied, "this database role may not move realms at \(place): use the role that owns the tables")
        }
    }

    // MARK: Slices

    package func sliceTables() async throws(StoreError) -> [StoredTable] {
        try await PostgresTables(client).tables(of: .slice(SliceNumber(0)))
    }

    package func isEmpty(_ table: String, in slice: SliceNumber) async throws(StoreError) -> Bool {
        try await read("SELECT 1 FROM \(quoted(table)) WHERE slice = $1 LIMIT 1", .slice(slice)).isEmpty
    }

    package func realms(
        in slice: SliceNumber, after: RealmID?, limit: Int
    ) async throws(StoreError) -> [StoredRealm] {
        try await read(
            """
            (SELECT id, app, partition, stored_bytes FROM realms WHERE slice = $1 AND id > $2 ORDER BY id LIMIT $3)
            UNION ALL
            (SELECT realm, app, partition, 0 FROM erasures WHERE slice = $1 AND realm > $2 ORDER BY realm LIMIT $3)
            ORDER BY 1 LIMIT $3
            """, .slice(slice), .int(after?.value ?? .min), .int(Int64(limit))
        ).map { row in
            StoredRealm(
                id: RealmID(row.int(0)), name: RealmName(app: row.string(1), partition: row.string(2)),
                bytes: Int(clamping: row.int(3)))
        }
    }

    package func countRealms(in slice: SliceNumber) async throws(StoreError) -> Int {
        let rows = try await read(
            """
            SELECT (SELECT count(*) FROM realms WHERE slice = $1) + (SELECT count(*) FROM erasures WHERE slice = $1)
            """, .slice(slice))
        return Int(clamping: rows.first?.int(0) ?? 0)
    }

    package func exists(_ slice: SliceNumber) async throws(StoreError) -> Bool {
        try await !isEmpty("ownership", in: slice)
    }

    package func make(_ slice: SliceNumber) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        pipeline.add("INSERT INTO ownership (slice) VALUES ($1) ON CONFLICT (slice) DO NOTHING", .slice(slice))
        try await write(pipeline)
    }

    package func remove(_ slice: SliceNumber) async throws(StoreError) {
        while true {
            let realms = try await realms(in: slice, after: nil, limit: 500)
            if realms.isEmpty { break }
            try await clear(realms.map(\.id), in: slice)
        }
        var pipeline = PostgresPipeline()
        for table in try await sliceTables() {
            pipeline.add("DELETE FROM \(quoted(table.name)) WHERE slice = $1", .slice(slice))
        }
        try await write(pipeline)
    }

    package func finish(_ slice: SliceNumber, cluster: String, epoch: Epoch) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        pipeline.add(
            """
            INSERT INTO meta (slice, key, value) VALUES ($1, 'cluster', $2)
            ON CONFLICT (slice, key) DO UPDATE SET value = excluded.value
            """, .slice(slice), .string(cluster))
        pipeline.add(
            """
            UPDATE ownership SET owner = $2, epoch = $3, lease_until = 0, released = true, last_commit = $4
            WHERE slice = $1
            """, .slice(slice), .text(SliceDivision.owner), .int(epoch.value.stored),
            .int(CommitLedger.makeToken()))
        try await write(pipeline)
    }

    package func recount(_ slice: SliceNumber) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        pipeline.add("DELETE FROM app_usage WHERE slice = $1", .slice(slice))
        pipeline.add(
            """
            INSERT INTO app_usage (slice, app, realms, client_files, bytes)
            SELECT $1, r.app, count(*), sum(f.files), sum(r.stored_bytes) FROM realms AS r
            CROSS JOIN LATERAL (
                SELECT count(*) AS files FROM client_files AS c WHERE c.slice = $1 AND c.realm = r.id OFFSET 0) AS f
            WHERE r.slice = $1 GROUP BY r.app
            """, .slice(slice))
        try await write(pipeline)
    }
}

// MARK: - Rows

extension PostgresGrowth {
    package func share(
        _ slice: SliceNumber, with target: SliceNumber, of count: SliceCount
    ) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        let both: [PostgresValue] = [.slice(slice), .slice(target)]
        pipeline.add(
            """
            INSERT INTO app_generations (slice, app, generation, campaign, at)
            SELECT $2, app, generation, campaign, at FROM app_generations WHERE slice = $1 ON CONFLICT DO NOTHING
            """, both)
        pipeline.add(
            """
            INSERT INTO campaign_reasons (slice, campaign, reason)
            SELECT $2, campaign, reason FROM campaign_reasons WHERE slice = $1 ON CONFLICT DO NOTHING
            """, both)
        // Held in one slice, held in all that its realms go to.
        pipeline.add(
            """
            INSERT INTO reset_holds (slice, app, held_since, asked, client_files, allowed_until)
            SELECT $2, app, held_since, asked, client_files, allowed_until FROM reset_holds WHERE slice = $1
            ON CONFLICT (slice, app) DO UPDATE SET held_since = excluded.held_since, asked = excluded.asked,
                client_files = excluded.client_files, allowed_until = excluded.allowed_until
            WHERE reset_holds.held_since IS NULL AND excluded.held_since IS NOT NULL
            """, both)
        // The latest of each slice, between those of the others: the earliest of all are forgotten first.
        pipeline.add(
            """
            INSERT INTO seen_messages (slice, id, number)
            SELECT $2, s.id, ($4 - (last.number - s.number)) * $3 + $1 FROM seen_messages AS s
            CROSS JOIN (SELECT max(number) AS number FROM seen_messages WHERE slice = $1) AS last
            WHERE s.slice = $1 AND s.number > last.number - $4 ON CONFLICT (slice, id) DO NOTHING
            """,
            both + [.int(Int64(count.value)), .int(Int64(SliceBatch.rememberedMessages / count.value))])
        pipeline.add(
            """
            INSERT INTO meta (slice, key, value)
            SELECT $2, s.key, s.value FROM meta AS s
            CROSS JOIN (SELECT value::numeric AS at FROM meta WHERE slice = $1 AND key = 'restore.at') AS new
            WHERE s.slice = $1 AND s.key IN ('restore', 'restore.at') AND NOT EXISTS (
                SELECT 1 FROM meta AS t WHERE t.slice = $2 AND t.key = 'restore.at' AND t.value::numeric >= new.at)
            ON CONFLICT (slice, key) DO UPDATE SET value = excluded.value
            """, both)
        try await write(pipeline)
    }

    /// A table whose rows go with their realms.
    private struct RealmTable {
        var name: String
        var realm: String
        var key: [String]
        /// All columns but the slice's and the realm's numbers.
        var others: [String]

        /// The moved realms as `m`, each with its rows in a slice as `s`. Whatever the database knows of the table's size: for each
        /// realm it asks the index.
        func rows(_ slice: String, of number: String) -> String {
            """
            unnest($3::bigint[], $4::bigint[]) AS m (old, new) CROSS JOIN LATERAL (
                SELECT * FROM \(name) AS i WHERE i.slice = \(slice) AND i.\(realm) = m.\(number) OFFSET 0) AS s
            """
        }
    }

    private func realmTables() async throws(StoreError) -> [RealmTable] {
        var tables: [RealmTable] = []
        for layout in try await PostgresTables(client).layouts(of: .slice(SliceNumber(0))) {
            guard case .ofRealms(let realm) = try SliceTable(layout.table) else { continue }
            tables.append(
                RealmTable(
                    name: quoted(layout.table.name), realm: quoted(realm),
                    key: layout.key.filter { $0 != realm }.map(quoted),
                    others: layout.types.keys.filter { $0 != realm && $0 != "slice" }.sorted().map(quoted)))
        }
        return tables.sorted { $0.name < $1.name }
    }

    package func copy(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) {
        let there = try await read(
            """
            SELECT id FROM realms WHERE slice = $1 AND id = ANY ($2)
            UNION ALL SELECT realm FROM erasures WHERE slice = $1 AND realm = ANY ($2)
            """, .slice(target), .ints(moves.map(\.new.value)))
        let known = Set(there.map { $0.int(0) })
        let missing = moves.filter { !known.contains($0.new.value) }
        guard !missing.isEmpty else { return }
        var pipeline = PostgresPipeline()
        for table in try await realmTables() {
            pipeline.add(
                """
                INSERT INTO \(table.name) (slice, \(([table.realm] + table.others).joined(separator: ", ")))
                SELECT $2, m.new, \(table.others.map { "s.\($0)" }.joined(separator: ", "))
                FROM \(table.rows("$1", of: "old"))
                """, Self.values(missing, slice, target))
        }
        try await write(pipeline)
    }

    private static func values(
        _ moves: [RealmMove], _ slice: SliceNumber, _ target: SliceNumber
    ) -> [PostgresValue] {
        [.slice(slice), .slice(target), .ints(moves.map(\.old.value)), .ints(moves.map(\.new.value))]
    }

    package func difference(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) -> String? {
        let tables = try await realmTables()
        var pipeline = PostgresPipeline()
        for table in tables {
            func row(_ name: String) -> String {
                "ROW (\(table.others.map { "\(name).\($0)" }.joined(separator: ", ")))"
            }
            let same = table.key.map { "n.\($0) = s.\($0)" } + ["\(row("n")) IS NOT DISTINCT FROM \(row("s"))"]
            pipeline.add(
                """
                SELECT EXISTS (
                    SELECT 1 FROM \(table.rows("$1", of: "old"))
                    WHERE NOT EXISTS (
                        SELECT 1 FROM \(table.name) AS n WHERE n.slice = $2 AND n.\(table.realm) = m.new
                            AND \(same.joined(separator: " AND "))))
                OR (SELECT count(*) FROM \(table.rows("$1", of: "old")))
                    <> (SELECT count(*) FROM \(table.rows("$2", of: "new")))
                """, Self.values(moves, slice, target))
        }
        do throws(PostgresError) {
            let answer = try await client.run(pipeline, .reads)
            for (index, table) in tables.enumerated() where answer[index].first?.bool(0) == true {
                return table.name.replacing("\"", with: "")
            }
            return nil
        } catch {
            throw StoreError(error, "\(place) cannot be compared")
        }
    }

    package func clear(_ realms: [RealmID], in slice: SliceNumber) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        for table in try await realmTables() {
            pipeline.add(
                "DELETE FROM \(table.name) WHERE slice = $1 AND \(table.realm) = ANY ($2)",
                .slice(slice), .ints(realms.map(\.value)))
        }
        try await write(pipeline)
    }
}

extension PostgresValue {
    fileprivate static func slice(_ slice: SliceNumber) -> PostgresValue { .int(Int64(slice.value)) }
}
