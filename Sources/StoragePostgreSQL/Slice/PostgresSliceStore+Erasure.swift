import PostgreSQL
import Storage
import SyncModel

extension PostgresSliceStore {
    /// - Parameter rest: of a statement that selects erasures, after the slice's number.
    private func erasures(_ rest: String, _ values: PostgresValue...) async throws(StoreError) -> [ErasureRecord] {
        try await query(
            "SELECT \(ErasureRecord.columns) FROM erasures e WHERE e.slice = $1 AND \(rest)", values: values
        )
        .map(ErasureRecord.init)
    }

    func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("e.name_id = $2 ORDER BY e.realm DESC", .bytes(name.nameID))
    }

    func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("NOT e.swept ORDER BY e.realm LIMIT $2", .int(Int64(limit)))
    }

    func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("e.at >= $2 ORDER BY e.at DESC LIMIT $3", .int(since.stored), .int(Int64(limit)))
    }

    func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("e.at < $2 AND e.swept ORDER BY e.at LIMIT $3", .int(before.stored), .int(Int64(limit)))
    }

    func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await erasures("e.app = $2 LIMIT $3", .string(app), .int(Int64(limit)))
    }

    func appErasures() async throws(StoreError) -> [AppErasureRecord] {
        try await query("SELECT app, realms FROM app_erasures WHERE slice = $1 ORDER BY app").map { row in
            AppErasureRecord(app: row.string(0), realms: Int(row.int(1)))
        }
    }

    func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await query(
            "SELECT \(RealmRecord.columns) FROM realms r WHERE r.slice = $1 AND r.app = $2 LIMIT $3", .string(app),
            .int(Int64(limit))
        ).read { row throws(StoreError) in try RealmRecord(row) }
    }

    func countRealms(ofApp app: String) async throws(StoreError) -> Int {
        try await queryCount("SELECT count(*) FROM realms WHERE slice = $1 AND app = $2", .string(app))
    }

    static let countingClientFiles = """
        SELECT count(*) FROM client_files WHERE slice = $1 AND realm = $2 AND state IN ('live', 'resetRequired')
        """

    func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int {
        try await queryCount(Self.countingClientFiles, .int(realm.value))
    }

    // MARK: Sweeping

    func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Bool {
        do {
            return try await client.withTransaction { [number] transaction in
                try await requireOwned(epoch, transaction)
                var (rows, bytes) = (0, 0)
                for swept in SweptTable.all {
                    // A table is done with the first step that finds fewer rows than it may take.
                    while true {
                        let limit = max(1, maxRows - rows)
                        let gone = try await transaction.query(
                            swept.sweeping, .int(number), .int(realm.value), .int(Int64(limit)),
                            .int(Int64(maxBytes - bytes)))
                        let count = Int(gone.first?.int(0) ?? 0)
                        guard count > 0 else { break }
                        rows += count
                        bytes += Int(gone.first?.int(1) ?? 0)
                        guard rows < maxRows, bytes < maxBytes else { return false }
                    }
                }
                return true
            }
        } catch {
            throw StoreError(any: error, "slice \(slice) cannot be swept")
        }
    }
}

extension SweptTable {
    /// Deletes a realm's first rows, and says how many and how large they were.
    fileprivate var sweeping: String {
        // Long keys of objects go by others.
        let key = key.map { $0 == "key" ? "key_id" : $0 }
        let columns = key.joined(separator: ", ")
        let octets = content.map { "octet_length(\($0))" } ?? "0"
        return """
            WITH gone AS (
                DELETE FROM \(name) t USING (
                    SELECT w.* FROM (
                        SELECT p.*, row_number() OVER (ORDER BY \(columns)) AS place,
                            sum(p.octets) OVER (ORDER BY \(columns)) - p.octets AS before
                        FROM (
                            SELECT \(columns), \(octets) AS octets FROM \(name)
                            WHERE slice = $1 AND realm = $2 ORDER BY \(columns) LIMIT $3) p) w
                    WHERE w.before < $4 OR w.place = 1) d
                WHERE t.slice = $1 AND t.realm = $2 AND \(key.map { "t.\($0) = d.\($0)" }.joined(separator: " AND "))
                RETURNING d.octets)
            SELECT count(*), coalesce(sum(octets), 0)::bigint FROM gone
            """
    }
}
