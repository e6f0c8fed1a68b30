import PostgreSQL
import Storage
import SyncModel

/// What a slice holds, by whichever connection it is read.
protocol PostgresSliceContent: SliceContent {
    /// Sends statements that read, and waits for the answers.
    func ask(_ pipeline: PostgresPipeline) async throws(StoreError) -> PostgresAnswer
}

extension PostgresSliceContent {
    var number: Int64 { Int64(slice.value) }

    /// Runs one statement that reads; its first parameter is the slice.
    func query(_ sql: String, _ values: PostgresValue...) async throws(StoreError) -> PostgresRows {
        try await query(sql, values: values)
    }

    func query(_ sql: String, values: [PostgresValue]) async throws(StoreError) -> PostgresRows {
        try await ask(PostgresPipeline(sql, [.int(number)] + values))[0]
    }

    /// The number that a statement returns in its first row; nil without a row, and for NULL.
    func queryNumber(_ sql: String, _ values: PostgresValue...) async throws(StoreError) -> Int64? {
        try await query(sql, values: values).first.flatMap { $0.optionalInt(0) }
    }

    /// The count that a statement returns.
    func queryCount(_ sql: String, _ values: PostgresValue...) async throws(StoreError) -> Int {
        Int(try await query(sql, values: values).first?.int(0) ?? 0)
    }

    func read(_ lookup: SliceLookup) async throws(StoreError) -> SliceFindings {
        let lookup = PostgresLookup(lookup, slice: slice)
        guard !lookup.pipeline.isEmpty else { return SliceFindings() }
        return try lookup.findings(try await ask(lookup.pipeline))
    }

    func ownership() async throws(StoreError) -> SliceOwnership? {
        try await query(SliceOwnership.selecting).first.flatMap(SliceOwnership.init)
    }

    func restore() async throws(StoreError) -> RestoreRecord? {
        let rows = try await query(
            "SELECT key, value FROM meta WHERE slice = $1 AND key IN ('restore', 'restore.at') ORDER BY key")
        guard rows.count == 2, let at = UInt64(rows[1].string(1)) else { return nil }
        return RestoreRecord(id: rows[0].string(1), at: at)
    }

    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        try await query(
            """
            SELECT epoch, owner, at, reason, released_at FROM ownership_history WHERE slice = $1
            ORDER BY epoch DESC LIMIT $2
            """, .int(Int64(limit))
        ).map { row in
            OwnershipChange(
                epoch: Epoch(row.number(0)), owner: row.string(1), at: row.number(2),
                reason: OwnershipChange.Reason(rawValue: row.text(3)) ?? .first, releasedAt: row.optionalNumber(4))
        }
    }

    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await query(
            "SELECT \(RealmRecord.columns) FROM realms r WHERE r.slice = $1 AND r.id > $2 ORDER BY r.id LIMIT $3",
            .int(after?.value ?? 0), .int(Int64(limit))
        ).read { row throws(StoreError) in try RealmRecord(row) }
    }

    func objects(
        in realm: RealmID, of table: UInt32?, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        var found: [(row: ObjectRow, body: [UInt8])] = []
        var last = (
            table: (after?.table ?? table).map { Int64($0) } ?? -1, id: after.map { StoredKey($0.key).id } ?? []
        )
        var bytes = 0
        while bytes < maxBytes || found.isEmpty {
            // By their lengths first: what is not returned is not read.
            let rows = try await query(
                """
                SELECT o.table_id, o.key, o.body, o.key_id FROM (
                    SELECT p.table_id, p.key_id, sum(p.octets) OVER (ORDER BY p.table_id, p.key_id) - p.octets AS before
                    FROM (
                        SELECT table_id, key_id, octet_length(body) + \(HistoryQuery.overhead) AS octets FROM objects
                        WHERE slice = $1 AND realm = $2 AND (table_id, key_id) > ($3, $4) AND table_id <= $6
                        ORDER BY table_id, key_id LIMIT \(Self.objectChunk)) p) w
                CROSS JOIN LATERAL (
                    SELECT * FROM objects i
                    WHERE i.slice = $1 AND i.realm = $2 AND i.table_id = w.table_id AND i.key_id = w.key_id OFFSET 0) o
                WHERE w.before < $5 OR w.before = 0
                ORDER BY o.table_id, o.key_id
                """, .int(realm.value), .int(last.table), .bytes(last.id), .int(Int64(maxBytes) - Int64(bytes)),
                .int(table.map { Int64($0) } ?? .max))
            for row in rows {
                let object = ObjectRow(
                    table: UInt32(truncatingIfNeeded: row.int(0)),
                    key: try StoredKey.key(row.bytes(1)))
                found.append((object, row.bytes(2)))
                bytes += row.byteCount(2) + HistoryQuery.overhead
            }
            guard rows.count == Self.objectChunk, let end = rows.last else { break }
            last = (end.int(0), end.bytes(3))
        }
        return found
    }

    private static var objectChunk: Int { 1_000 }

    func clientFiles(
        in realm: RealmID, state: ClientFileRecord.State?, after ident: FileIdent, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await query(
            """
            SELECT \(ClientFileRecord.columns) FROM client_files f
            WHERE f.slice = $1 AND f.realm = $2 AND f.ident > $3 AND ($4::text IS NULL OR f.state = $4)
            ORDER BY f.ident LIMIT $5
            """, .int(realm.value), .int(ident.stored), .text(state?.rawValue), .int(Int64(limit))
        ).read { row throws(StoreError) in try ClientFileRecord(row) }
    }
}

extension SliceOwnership {
    static let selecting = "SELECT owner, epoch, lease_until, released FROM ownership WHERE slice = $1"

    /// Nil for a slice that was never taken.
    init?(_ row: PostgresRow) {
        guard let owner = row.optionalString(0) else { return nil }
        self.init(
            owner: owner, epoch: Epoch(row.number(1)), leaseUntil: row.number(2), isReleased: row.bool(3))
    }
}

extension PostgresRows {
    /// What each row holds.
    func read<Value>(_ body: (PostgresRow) throws(StoreError) -> Value) throws(StoreError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for row in self { values.append(try body(row)) }
        return values
    }
}
