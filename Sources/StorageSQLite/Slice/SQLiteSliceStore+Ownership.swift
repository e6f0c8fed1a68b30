import GRDB
import Messages
package import Storage

extension SQLiteSliceStore {
    package func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim {
        try await write { db in
            let current = try Self.ownership(db)
            let reason: OwnershipChange.Reason
            if let current {
                guard let allowed = current.takeover(by: worker, now: now, gone: gone, overdue: overdue) else {
                    return .heldBy(owner: current.owner, until: current.leaseUntil)
                }
                reason = allowed
            } else {
                reason = .first
            }
            let epoch = Epoch((current?.epoch.value ?? 0) + 1)
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO ownership (id, owner, epoch, lease_until, released) VALUES (0, ?, ?, ?, 0);
                    INSERT INTO ownership_history (epoch, owner, at, reason) VALUES (?, ?, ?, ?);
                    DELETE FROM ownership_history WHERE epoch <= ? - ?;
                    """,
                arguments: [
                    worker, epoch.value.stored, leaseUntil.stored, epoch.value.stored, worker, now.stored,
                    reason.rawValue, epoch.value.stored, OwnershipChange.kept,
                ])
            return .owned(epoch)
        }
    }

    package func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError) {
        let slice = slice
        try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            try db.execute(sql: "UPDATE ownership SET lease_until = ?", arguments: [leaseUntil.stored])
        }
    }

    package func release(epoch: Epoch, at: UInt64) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "UPDATE ownership SET released = 1 WHERE epoch = ? AND NOT released",
                arguments: [epoch.value.stored])
            guard db.changesCount > 0 else { return }
            try db.execute(
                sql: "UPDATE ownership_history SET released_at = ? WHERE epoch = ?",
                arguments: [at.stored, epoch.value.stored])
        }
    }

    package func ownership() async throws(StoreError) -> SliceOwnership? {
        try await read { db in try Self.ownership(db) }
    }

    package func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT epoch, owner, at, reason, released_at FROM ownership_history ORDER BY epoch DESC LIMIT ?",
                arguments: [limit]
            ).map { row in
                OwnershipChange(
                    epoch: Epoch(UInt64(stored: row[0])), owner: row[1], at: UInt64(stored: row[2]),
                    reason: OwnershipChange.Reason(rawValue: row[3]) ?? .first,
                    releasedAt: (row[4] as Int64?).map { UInt64(stored: $0) })
            }
        }
    }

    private static func ownership(_ db: Database) throws -> SliceOwnership? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT owner, epoch, lease_until, released FROM ownership WHERE id = 0")
        ).map { row in
            SliceOwnership(
                owner: row[0], epoch: Epoch(UInt64(stored: row[1])), leaseUntil: UInt64(stored: row[2]),
                isReleased: row[3])
        }
    }

    /// The fence: what stands in the same transaction after it is written by the owner or not at all.
    static func requireOwned(_ db: Database, epoch: Epoch, slice: SliceNumber) throws {
        let current = try ownership(db)
        guard let current, current.epoch == epoch, !current.isReleased else {
            throw StoreError(
                .fenced,
                "slice \(slice) is no longer owned under epoch \(epoch); the store has epoch \(current?.epoch.value ?? 0)"
            )
        }
    }
}
