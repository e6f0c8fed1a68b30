import Storage
import SyncModel

/// The owners of slices by epoch, as each slice's own store remembers them: the last hundred of each slice.
enum SliceHistory {
    /// One owner's time with a slice.
    struct Entry: Encodable {
        var slice: Int
        var epoch: UInt64
        var worker: String
        /// Milliseconds of Unix time.
        var takenAt: UInt64
        /// What let the worker take the slice.
        var how: String
        /// Absent while it is owned, and for ever if the slice was taken from this owner.
        var releasedAt: UInt64?
    }

    /// - Returns: oldest first within each slice; nothing of slices that nobody has ever taken.
    static func entries(of slices: [SliceNumber], _ settings: ClusterSettings) async throws -> [Entry] {
        let stores = try settings.stores().inspector()
        var entries: [Entry] = []
        let existing = Set(try await stores.slices())
        for slice in slices where existing.contains(slice) {
            let changes = try await stores.reader(for: slice).ownershipHistory(limit: OwnershipChange.kept)
            entries += changes.reversed().map { change in
                Entry(
                    slice: slice.value, epoch: change.epoch.value, worker: change.owner, takenAt: change.at,
                    how: word(for: change.reason), releasedAt: change.releasedAt)
            }
        }
        return entries
    }

    /// The word that is shown for a reason.
    private static func word(for reason: OwnershipChange.Reason) -> String {
        switch reason {
        case .first, .reclaimed: "claimed"
        case .released: "released"
        case .ownerGone: "dead"
        case .leaseExpired: "lease"
        }
    }

    static func table(_ entries: [Entry]) -> Table {
        let rows = entries.map { entry in
            [
                "\(entry.slice)", "\(entry.epoch)", entry.worker, Printing.time(ofUnixMilliseconds: entry.takenAt),
                entry.how, entry.releasedAt.map { Printing.time(ofUnixMilliseconds: $0) }.cell,
            ]
        }
        return Table("SLICE", "EPOCH", "WORKER", "TAKEN", "HOW", "RELEASED", rows: rows)
    }
}
