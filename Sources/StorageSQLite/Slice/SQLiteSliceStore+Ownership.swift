import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim {
        try await write { db in
            let current = try SliceOwnership.current(db)
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
                    DELETE FROM ownership_history WHERE epoch NOT IN (
                        SELECT epoch FROM ownership_history ORDER BY epoch DESC LIMIT ?);
                    """,
                arguments: [
                    worker, epoch.value.stored, leaseUntil.stored, epoch.value.stored, worker, now.stored,
                    reason.rawValue, OwnershipChange.kept,
                ])
            return .owned(epoch)
        }
    }

    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError) {
        let slice = slice
        try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            try db.run("UPDATE ownership SET lease_until = ?", leaseUntil.stored)
        }
    }

    func release(epoch: Epoch, at: UInt64) async throws(StoreError) {
        try await write { db in
            try db.run("UPDATE ownership SET released = 1 WHERE epoch = ? AND NOT released", epoch.value.stored)
            guard db.changesCount > 0 else { return }
            try db.run("UPDATE ownership_history SET released_at = ? WHERE epoch = ?", at.stored, epoch.value.stored)
        }
    }

    func putBack(_ restore: RestoreRecord, epoch: Epoch) async throws(StoreError) {
        try await write { db in
            let current = try SliceOwnership.current(db)
            let raised = max(epoch, current?.epoch ?? Epoch(0))
            try db.run(
                "INSERT OR REPLACE INTO ownership (id, owner, epoch, lease_until, released) VALUES (0, ?, ?, 0, 1)",
                current?.owner ?? "", raised.value.stored)
            try db.run(
                "UPDATE realms SET lost_from = next_ident, lost_to = next_ident + ?, next_ident = next_ident + ?",
                RestoreRecord.lostIdents.stored, RestoreRecord.lostIdents.stored)
            let put = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"
            try db.run(put, "restore", restore.id)
            try db.run(put, "restore.at", String(restore.at))
        }
    }

    func cluster() async throws(StoreError) -> String? {
        try await query { try String.fetchOne($0, sql: "SELECT value FROM meta WHERE key = 'cluster'") }
    }

    func setCluster(_ id: String) async throws(StoreError) {
        try await write { try $0.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('cluster', ?)", id) }
    }

    /// The fence: what stands in the same transaction after it is written by the owner or not at all.
    static func requireOwned(_ db: Database, epoch: Epoch, slice: SliceNumber) throws {
        let current = try SliceOwnership.current(db)
        guard let current, current.epoch == epoch, !current.isReleased else {
            throw StoreError(
                .fenced,
                "slice \(slice) is no longer owned under epoch \(epoch); the store has epoch \(current?.epoch.value ?? 0)"
            )
        }
    }
}
