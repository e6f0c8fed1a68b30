import PostgreSQL
import Storage
import SyncModel

extension PostgresSliceStore {
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> ServerVersion? {
        try await queryNumber(
            """
            SELECT min(greatest(upload_server, start)) FROM client_files
            WHERE slice = $1 AND realm = $2 AND state = 'live' AND generation = $3 AND start IS NOT NULL
            """, .int(realm.value), .int(generation.stored)
        ).map(ServerVersion.init(stored:))
    }

    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool {
        try await queryNumber(
            """
            SELECT 1::bigint FROM client_files
            WHERE slice = $1 AND realm = $2 AND state = 'live' AND generation = $3 AND start = $4
                AND upload_server < start LIMIT 1
            """, .int(base.realm.value), .int(base.generation.stored), .int(base.version.stored)) != nil
    }

    func historyStretch(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> ServerVersion? {
        guard after < through else { return nil }
        let rows = try await query(
            """
            SELECT version, cumulative FROM history
            WHERE slice = $1 AND realm = $2 AND generation = $3 AND version > $4 AND version <= $5 ORDER BY version LIMIT $6
            """, .int(key.realm.value), .int(key.series), .int(after.stored), .int(through.stored),
            .int(Int64(maxVersions)))
        var end: ServerVersion?
        for row in rows {
            end = row.number(0)
            if row.number(1) &- rows[0].number(1) >= maxBytes { break }
        }
        return end
    }

    /// The database looks after its room by itself.
    func returnSpace(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int { 0 }
}
