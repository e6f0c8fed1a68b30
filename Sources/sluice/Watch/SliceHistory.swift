import Operations
import Storage
import SyncModel

/// Who had a slice under which epoch, as the slice's own store remembers it: the last hundred owners of each.
struct SliceHistory {
    /// One owner's time with a slice.
    struct Entry: Codable {
        var slice: Int
        var epoch: UInt64
        var worker: String
        /// Milliseconds of Unix time.
        var takenAt: UInt64
        var how: How
        /// Absent while it is owned, and for ever if the slice was taken from this owner.
        var releasedAt: UInt64?
    }

    /// What let a worker take the slice.
    enum How: String, Codable {
        /// It was nobody's, or this worker's own.
        case claimed
        /// The owner before had handed it over.
        case released
        /// The owner before had lost its connection.
        case dead
        /// The lease of the owner before had run out.
        case lease

        init(_ reason: OwnershipChange.Reason) {
            self =
                switch reason {
                case .first, .reclaimed: .claimed
                case .released: .released
                case .ownerGone: .dead
                case .leaseExpired: .lease
                }
        }
    }

    let stores: any StoreInspector

    init(_ settings: ClusterSettings) throws {
        stores = try settings.stores().inspector()
    }

    /// - Returns: oldest first within each slice; nothing of slices that nobody has ever taken.
    func entries(of slices: [SliceNumber]) async throws -> [Entry] {
        var entries: [Entry] = []
        let existing = Set(try stores.slices())
        for slice in slices where existing.contains(slice) {
            let changes = try await stores.reader(for: slice).ownershipHistory(limit: OwnershipChange.kept)
            entries += changes.reversed().map { change in
                Entry(
                    slice: slice.value, epoch: change.epoch.value, worker: change.owner, takenAt: change.at,
                    how: How(change.reason), releasedAt: change.releasedAt)
            }
        }
        return entries
    }

    static func table(_ entries: [Entry]) -> Table {
        var table = Table("SLICE", "EPOCH", "WORKER", "TAKEN", "HOW", "RELEASED")
        for entry in entries {
            table.row(
                "\(entry.slice)", "\(entry.epoch)", entry.worker, Printing.time(ofUnixMilliseconds: entry.takenAt),
                entry.how.rawValue, entry.releasedAt.map { Printing.time(ofUnixMilliseconds: $0) } ?? "-")
        }
        return table
    }
}
