import PostgreSQL
import Storage
import SyncModel

/// A slice in the database for reading, beside its owner.
final class PostgresSliceReader: PostgresSliceContent, SliceReader {
    let slice: SliceNumber
    private let client: PostgresClient
    /// All reads go there, and find one state; nil: each call finds the state of its moment.
    private let snapshot: PostgresTransaction?

    init(slice: SliceNumber, client: PostgresClient, snapshot: PostgresTransaction? = nil) {
        self.slice = slice
        self.client = client
        self.snapshot = snapshot
    }

    func ask(_ pipeline: PostgresPipeline) async throws(StoreError) -> PostgresAnswer {
        do throws(PostgresError) {
            if let snapshot { return try await snapshot.run(pipeline) }
            return try await client.run(pipeline, .snapshot)
        } catch {
            throw StoreError(error, "slice \(slice) cannot be read")
        }
    }

    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceReader) async throws -> Value
    ) async throws -> Value {
        if snapshot != nil { return try await body(self) }
        do {
            return try await client.withSnapshot { transaction in
                try await body(PostgresSliceReader(slice: slice, client: client, snapshot: transaction))
            }
        } catch let error as PostgresError {
            throw StoreError(error, "slice \(slice) cannot be read")
        }
    }

    func clientFileCounts(in realm: RealmID) async throws(StoreError) -> [ClientFileRecord.State: Int] {
        let rows = try await query(
            "SELECT state, count(*) FROM client_files WHERE slice = $1 AND realm = $2 GROUP BY state",
            .int(realm.value))
        return Dictionary(
            rows.compactMap { row in ClientFileRecord.State(rawValue: row.text(0)).map { ($0, Int(row.int(1))) } },
            uniquingKeysWith: +)
    }

    func clientFilesAhead(limit: Int) async throws(StoreError) -> [ListedClientFile] {
        try await query(
            """
            SELECT \(ClientFileRecord.columns), r.app, r.partition
            FROM client_files f JOIN realms r ON r.slice = $1 AND r.id = f.realm
            WHERE f.slice = $1 AND f.ahead IS NOT NULL ORDER BY f.realm, f.ident LIMIT $2
            """, .int(Int64(limit))
        ).read { row throws(StoreError) in try ListedClientFile(row) }
    }

    func objectCount(in realm: RealmID) async throws(StoreError) -> Int {
        try await queryCount("SELECT count(*) FROM objects WHERE slice = $1 AND realm = $2", .int(realm.value))
    }

    func weight(of realm: RealmID) async throws(StoreError) -> RealmWeight {
        let row = try await query(
            """
            SELECT (SELECT count(*) FROM objects WHERE slice = $1 AND realm = $2),
                (\(PostgresSliceStore.countingClientFiles)),
                (SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM objects WHERE slice = $1 AND realm = $2)
                + (SELECT coalesce(sum(octet_length(changeset)), 0)::bigint FROM history WHERE slice = $1 AND realm = $2)
            """, .int(realm.value)
        ).first
        return RealmWeight(
            objects: Int(row?.int(0) ?? 0), clientRealms: Int(row?.int(1) ?? 0), bytes: row?.number(2) ?? 0)
    }

    func historySpan(of key: HistoryKey) async throws(StoreError) -> VersionSpan? {
        try await query(
            """
            SELECT min(version), max(version), count(*) FROM history WHERE slice = $1 AND realm = $2 AND generation = $3
            """, .int(key.realm.value), .int(key.series)
        ).first.flatMap { VersionSpan($0, at: 0) }
    }

    func reciprocalSpans(in realm: RealmID) async throws(StoreError) -> [FileIdent: VersionSpan] {
        let rows = try await query(
            """
            SELECT ident, min(version), max(version), count(*) FROM reciprocals WHERE slice = $1 AND realm = $2
            GROUP BY ident
            """, .int(realm.value))
        return Dictionary(
            rows.compactMap { row in VersionSpan(row, at: 1).map { (row.number(0), $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// What belongs to nothing: rows of realms that are neither there nor erased. The database itself checks its pages
    /// (`pg_amcheck`, checksums).
    func problems(limit: Int) async throws(StoreError) -> [String] {
        guard limit > 0 else { return [] }
        var found: [String] = []
        for table in [
            "objects", "object_index", "history", "history_digests", "bases", "client_files", "reciprocals",
            "reset_cases",
        ] {
            let rows = try await query(
                """
                WITH RECURSIVE there AS (
                    SELECT min(realm) AS realm FROM \(table) WHERE slice = $1
                UNION ALL
                    SELECT (SELECT min(t.realm) FROM \(table) t WHERE t.slice = $1 AND t.realm > p.realm) FROM there p
                    WHERE p.realm IS NOT NULL)
                SELECT p.realm FROM there p WHERE p.realm IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM realms r WHERE r.slice = $1 AND r.id = p.realm)
                    AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.slice = $1 AND e.realm = p.realm)
                LIMIT $2
                """, .int(Int64(limit - found.count)))
            found += rows.map { "\(table) has rows of realm \($0.int(0)), which is neither there nor erased" }
            guard found.count < limit else { break }
        }
        return found
    }
}

extension VersionSpan {
    /// Reads the columns for the first version, the last, and how many there are.
    fileprivate init?(_ row: PostgresRow, at column: Int) {
        guard !row.isNull(column) else { return nil }
        self.init(first: row.number(column), last: row.number(column + 1), count: row.number(column + 2))
    }
}
