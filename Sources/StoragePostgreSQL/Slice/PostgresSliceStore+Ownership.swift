import PostgreSQL
import Storage
import SyncModel

extension PostgresSliceStore {
    /// The database's clock in milliseconds of Unix time.
    private static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim {
        do {
            let claim = try await client.withTransaction { [number, leases, slice] transaction -> SliceClaim in
                let found = try await transaction.query(
                    "SELECT owner, epoch, lease_until, released, \(Self.clock) FROM ownership WHERE slice = $1 FOR UPDATE",
                    .int(number))
                guard let row = found.first else {
                    throw StoreError(.notFound, "slice \(slice) is not in the database any more")
                }
                let current = SliceOwnership(row)
                let lease = leaseUntil > now ? leaseUntil - now : 0
                let now = leases == .database ? row.number(4) : now
                let reason: OwnershipChange.Reason
                if let current {
                    guard let allowed = current.takeover(by: worker, now: now, gone: gone, overdue: overdue) else {
                        return .heldBy(owner: current.owner, until: current.leaseUntil)
                    }
                    reason = allowed
                } else {
                    reason = .first
                }
                let epoch = Epoch(row.number(1) + 1)
                var pipeline = PostgresPipeline()
                pipeline.add(
                    """
                    UPDATE ownership SET owner = $2, epoch = $3, lease_until = $4, lease = $5, released = false,
                        last_commit = $6 WHERE slice = $1
                    """, .int(number), .string(worker), .int(epoch.value.stored), .int((now &+ lease).stored),
                    .int(lease.stored), .int(CommitLedger.makeToken()))
                pipeline.add(
                    """
                    INSERT INTO ownership_history (slice, epoch, owner, at, reason) VALUES ($1, $2, $3, $4, $5)
                    """, .int(number), .int(epoch.value.stored), .string(worker), .int(now.stored),
                    .text(reason.rawValue))
                pipeline.add(
                    """
                    DELETE FROM ownership_history WHERE slice = $1 AND epoch NOT IN (
                        SELECT epoch FROM ownership_history WHERE slice = $1 ORDER BY epoch DESC LIMIT $2)
                    """, .int(number), .int(Int64(OwnershipChange.kept)))
                _ = try await transaction.commit(pipeline)
                return .owned(epoch)
            }
            return claim
        } catch {
            throw StoreError(any: error, "slice \(slice) cannot be taken")
        }
    }

    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError) {
        let until = leases == .database ? "\(Self.clock) + lease" : "$3"
        let renewed = try await write(
            "UPDATE ownership SET lease_until = \(until) WHERE slice = $1 AND epoch = $2 AND NOT released",
            .int(epoch.value.stored), .int(leaseUntil.stored))
        guard renewed.affected > 0 else {
            let found = try await queryNumber("SELECT epoch FROM ownership WHERE slice = $1")
            throw fenced(epoch, found: found.map { Epoch(UInt64(stored: $0)) })
        }
    }

    func release(epoch: Epoch, at: UInt64) async throws(StoreError) {
        let time = leases == .database ? Self.clock : "$3"
        _ = try await write(
            """
            WITH let_go AS (
                UPDATE ownership SET released = true WHERE slice = $1 AND epoch = $2 AND NOT released RETURNING epoch)
            UPDATE ownership_history h SET released_at = \(time) FROM let_go l
            WHERE h.slice = $1 AND h.epoch = l.epoch
            """, .int(epoch.value.stored), .int(at.stored))
    }

    func putBack(_ restore: RestoreRecord, epoch: Epoch) async throws(StoreError) {
        var pipeline = PostgresPipeline()
        pipeline.add(
            """
            UPDATE ownership SET owner = coalesce(owner, ''), epoch = greatest(epoch, $2), lease_until = 0, released = true,
                last_commit = $3 WHERE slice = $1
            """, .int(number), .int(epoch.value.stored), .int(CommitLedger.makeToken()))
        // A second time would take more idents for lost, so it happens once for each restore.
        pipeline.add(
            """
            UPDATE realms SET lost_from = next_ident, lost_to = next_ident + $2, next_ident = next_ident + $2
            WHERE slice = $1 AND NOT EXISTS (
                SELECT 1 FROM meta m WHERE m.slice = $1 AND m.key = 'restore' AND m.value = $3)
            """, .int(number), .int(RestoreRecord.lostIdents.stored), .string(restore.id))
        pipeline.add(
            """
            INSERT INTO meta (slice, key, value) VALUES ($1, 'restore', $2), ($1, 'restore.at', $3)
            ON CONFLICT (slice, key) DO UPDATE SET value = excluded.value
            """, .int(number), .string(restore.id), .string(String(restore.at)))
        _ = try await write(pipeline)
    }

    func cluster() async throws(StoreError) -> String? {
        try await query("SELECT value FROM meta WHERE slice = $1 AND key = 'cluster'").first?.string(0)
    }

    func setCluster(_ id: String) async throws(StoreError) {
        _ = try await write(
            """
            INSERT INTO meta (slice, key, value) VALUES ($1, 'cluster', $2)
            ON CONFLICT (slice, key) DO UPDATE SET value = excluded.value
            """, .string(id))
    }
}
