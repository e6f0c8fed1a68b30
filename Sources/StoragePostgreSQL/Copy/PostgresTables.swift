package import PostgreSQL
package import Storage
package import SyncModel

/// The rows of the stores in a schema, as they are kept. For copies: while no process uses the schema, or of one moment.
package struct PostgresTables: StoreCopyTarget {
    private let client: PostgresClient
    /// All reads go there, and find one state; nil: each finds the state of its moment.
    private let snapshot: PostgresTransaction?

    /// - Parameter client: of the role that owns the tables; one that may read them is enough to read.
    package init(_ client: PostgresClient) { self.init(client, nil) }

    private init(_ client: PostgresClient, _ snapshot: PostgresTransaction?) {
        self.client = client
        self.snapshot = snapshot
    }

    /// Reads a cluster's whole store, control store and slices, as it is at one moment, beside the cluster's processes: nothing
    /// waits for it, and only what the database would clear away since that moment stays until it ends.
    ///
    /// - Throws: `notFound` if there is no cluster, or one of its slices is missing; `mismatch`.
    package static func ofOneMoment<Value>(
        _ client: PostgresClient, _ body: (PostgresTables, ClusterRecord, [SliceNumber]) async throws -> Value
    ) async throws -> Value {
        try await PostgresControlSchema.schema.require(client)
        try await PostgresSliceSchema.schema.require(client)
        let (place, patience) = (client.storePlace, "SET LOCAL idle_in_transaction_session_timeout = 0")
        do {
            return try await client.withSnapshot { transaction in
                // Between two pages the disk of the copy is waited for.
                try await transaction.query(patience)
                let tables = PostgresTables(client, transaction)
                let (cluster, slices) = try await tables.cluster()
                return try await body(tables, cluster, slices)
            }
        } catch let error as PostgresError {
            throw StoreError(error, "\(place) cannot be read as it is at one moment")
        }
    }

    /// The cluster and the slices that it has made.
    private func cluster() async throws(StoreError) -> (ClusterRecord, [SliceNumber]) {
        let settings = ClusterSettings(
            try await query("SELECT name, value FROM settings", []).reduce(into: [:]) {
                $0[$1.string(0)] = $1.string(1)
            })
        let (cluster, growth) = try settings.growth(at: place)
        if let growth { throw StoreError.unfinishedGrowth(growth, at: place) }
        let made = try settings.slicesMade().keys.sorted()
        let there = Set(
            try await query("SELECT slice FROM ownership", []).map { SliceNumber(Int(truncatingIfNeeded: $0.int(0))) })
        guard let missing = made.first(where: { !there.contains($0) }) else {
            return (cluster, made)
        }
        throw StoreError(.notFound, "slice \(missing) is missing at \(place): sluice store show says what else is")
    }

    package var place: String { client.storePlace }

    /// Columns that SQLite does not have: what stands in indexes for longer values, and what only this engine needs.
    private static let own: Set<String> = ["slice", "name_id", "key_id", "user_key", "lease", "last_commit"]

    /// A table with the types of its columns and the columns of its key, the slice's number apart.
    struct Layout {
        var table: StoredTable
        /// The type of each column of the table, by the column's name.
        var types: [String: String]
        var key: [String]
        var isOfSlices: Bool
    }

    func layouts(of part: StorePart) async throws(StoreError) -> [Layout] {
        let rows = try await query(
            """
            SELECT c.relname::text, a.attname::text, t.typname::text, array_position(i.indkey::int2[], a.attnum)::bigint
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
            WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum
            """, [])
        let control = Set(PostgresControlSchema.names)
        var columns: [String: [(name: String, type: String, place: Int64?)]] = [:]
        for row in rows {
            let table = row.text(0)
            guard table != "locks", table != "sluice_schema", control.contains(table) == (part == .control) else {
                continue
            }
            columns[table, default: []].append((row.text(1), row.text(2), row.optionalInt(3)))
        }
        return columns.map { name, columns in
            // Tables of the control store have slices' numbers of their own.
            let visible = columns.map(\.name).filter { part == .control || !Self.own.contains($0) }
            let key = columns.filter { $0.place != nil && (part == .control || $0.name != "slice") }
                .sorted { ($0.place ?? 0) < ($1.place ?? 0) }.map(\.name)
            return Layout(
                table: StoredTable(name: name, columns: visible),
                types: Dictionary(columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first }),
                key: key, isOfSlices: part != .control)
        }
    }

    private func layout(of table: StoredTable, in part: StorePart) async throws(StoreError) -> Layout {
        guard var layout = try await layouts(of: part).first(where: { $0.table.name == table.name }) else {
            throw StoreError(.mismatch, "\(place) has no table \(table.name)")
        }
        layout.table = table
        return layout
    }

    package func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] {
        try await layouts(of: part).map(\.table)
    }

    // MARK: Reading

    package func page(
        of table: StoredTable, in part: StorePart, after end: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> StoredPage {
        let layout = try await layout(of: table, in: part)
        let columns = table.columns + layout.key
        var values = part.values
        var conditions = values.isEmpty ? [] : ["slice = $1"]
        // A slice that nobody has taken yet has no row of ownership in SQLite.
        if table.name == "ownership" { conditions.append("owner IS NOT NULL") }
        if let end, !end.isEmpty {
            let places = end.indices.map { "$\(values.count + $0 + 1)" }.joined(separator: ", ")
            conditions.append("(\(layout.key.map(quoted).joined(separator: ", "))) > (\(places))")
            for (name, value) in zip(layout.key, end) { values.append(value.parameter(of: layout.types[name])) }
        }
        values.append(.int(Int64(limit)))
        // A table of slices whose key is the slice alone has one row.
        let order = layout.key.isEmpty ? "" : "ORDER BY \(layout.key.map(quoted).joined(separator: ", "))"
        let rows = try await query(
            """
            SELECT \(columns.map(quoted).joined(separator: ", ")) FROM \(quoted(table.name))
            \(conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))") \(order) LIMIT $\(values.count)
            """, values
        ).map { row in columns.enumerated().map { StoredValue(row, $0.offset, type: layout.types[$0.element]) } }
        let isLast = rows.count < limit || layout.key.isEmpty
        return StoredPage(
            rows: rows.map { Array($0.prefix(table.columns.count)) },
            end: isLast ? nil : rows.last.map { Array($0.suffix(layout.key.count)) })
    }

    // MARK: Writing

    package func beginCopy(of cluster: String) async throws(StoreError) -> Set<StorePart>? {
        let settings = try await query("SELECT name, value FROM settings", [])
            .reduce(into: [String: String]()) { $0[$1.text(0)] = $1.text(1) }
        if let known = settings[CopyMark.cluster] {
            guard known == cluster else { throw StoreError.unfinishedCopy(of: known, at: place) }
            return CopyMark.parts(doneBy: settings.keys)
        }
        let rows = try await query("SELECT (SELECT count(*) FROM apps) + (SELECT count(*) FROM ownership)", [])
        guard settings.isEmpty, rows.first?.int(0) == 0 else {
            throw StoreError(
                .alreadyExists,
                "there is a cluster at \(place) already: a copy needs a schema of its own (?schema=NAME, sluice store init)"
            )
        }
        try await mark(CopyMark.cluster, cluster)
        return nil
    }

    private func mark(_ name: String, _ value: String) async throws(StoreError) {
        try await write(
            "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [.text(name), .text(value)])
    }

    package func prepare(_ part: StorePart) async throws(StoreError) {}

    package func insert(
        _ rows: [[StoredValue]], into table: StoredTable, in part: StorePart
    ) async throws(StoreError) {
        let layout = try await layout(of: table, in: part)
        var columns = table.columns
        var values: [PostgresValue] = []
        for (index, column) in columns.enumerated() {
            values.append(try StoredValue.list(rows.map { $0[index] }, of: layout.types[column], in: table.name))
        }
        for (name, value) in Self.derived(table, rows) {
            columns.append(name)
            values.append(.byteStrings(value))
        }
        let arrays = zip(columns, values.indices).map { name, index in
            "$\(index + 1)::\(StoredValue.arrayType(of: layout.types[name]))[]"
        }
        var names = columns.map(quoted)
        var selected = names
        if case .slice(let slice) = part {
            names.append("slice")
            values.append(.int(Int64(slice.value)))
            selected.append("$\(values.count)")
        }
        try await write(
            """
            INSERT INTO \(quoted(table.name)) (\(names.joined(separator: ", ")))
            SELECT \(selected.joined(separator: ", ")) FROM unnest(\(arrays.joined(separator: ", ")))
                AS copied (\(columns.map(quoted).joined(separator: ", ")))
            """, values)
    }

    /// The columns that stand in indexes for others, of which SQLite has the values themselves.
    private static func derived(_ table: StoredTable, _ rows: [[StoredValue]]) -> [(String, [[UInt8]])] {
        func texts(_ column: String) -> [String] {
            guard let index = table.columns.firstIndex(of: column) else { return rows.map { _ in "" } }
            return rows.map { if case .text(let text) = $0[index] { text } else { "" } }
        }
        switch table.name {
        case "realms", "erasures":
            return [
                (
                    "name_id",
                    zip(texts("app"), texts("partition")).map { RealmName(app: $0, partition: $1).nameID }
                )
            ]
        case "user_usage":
            return [("user_key", zip(texts("app"), texts("user")).map { AppUser(app: $0, user: $1).userKey })]
        case "objects", "object_index":
            guard let index = table.columns.firstIndex(of: "key") else { return [] }
            let ids = rows.map { row -> [UInt8] in
                if case .bytes(let encoding) = row[index] { StoredKey(encoding: encoding).id } else { [] }
            }
            return [("key_id", ids)]
        default: return []
        }
    }

    package func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError) {
        let condition =
            table.name == "settings" ? "WHERE name NOT LIKE 'copy%'" : part == .control ? "" : "WHERE slice = $1"
        try await write("DELETE FROM \(quoted(table.name)) \(condition)", part.values)
    }

    package func finish(_ part: StorePart) async throws(StoreError) {
        if part == .control {
            for table in ["admin_audit", "campaigns", "parked_outcomes"] {
                _ = try await query(
                    "SELECT setval(pg_get_serial_sequence('\(table)', 'number'), coalesce(max(number), 0) + 1, false) FROM \(table)",
                    [])
            }
        }
        if case .slice(let slice) = part {
            // The slice is there, though nobody may have taken it yet.
            try await write(
                "INSERT INTO ownership (slice) VALUES ($1) ON CONFLICT (slice) DO NOTHING", [.int(Int64(slice.value))])
        }
        try await mark(CopyMark.done(part), "")
    }

    package func endCopy() async throws(StoreError) {
        try await write("DELETE FROM settings WHERE name LIKE 'copy%'", [])
    }

    // MARK: Statements

    private func query(_ sql: String, _ values: [PostgresValue]) async throws(StoreError) -> PostgresRows {
        let pipeline = PostgresPipeline(sql, values)
        do throws(PostgresError) {
            if let snapshot { return try await snapshot.run(pipeline)[0] }
            return try await client.run(pipeline, .reads)[0]
        } catch {
            throw StoreError(error, "\(place) cannot be copied")
        }
    }

    private func write(_ sql: String, _ values: [PostgresValue]) async throws(StoreError) {
        do throws(PostgresError) {
            _ = try await client.run(PostgresPipeline(sql, values), .write())
        } catch {
            throw StoreError(error, "\(place) cannot be copied into")
        }
    }
}

extension StorePart {
    /// The slice's number; nothing for the control store.
    fileprivate var values: [PostgresValue] {
        switch self {
        case .control: []
        case .slice(let slice): [.int(Int64(slice.value))]
        }
    }
}
