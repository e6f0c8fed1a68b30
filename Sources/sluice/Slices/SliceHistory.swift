import AdminAPI
import SyncModel

/// The owners of slices by epoch, as each slice's own store remembers them: the last hundred of each slice.
enum SliceHistory {
    /// - Returns: oldest first within each slice; nothing of slices that nobody has ever taken.
    static func entries(of slices: [SliceNumber], _ admin: AdminClient) async throws -> [SliceOwnerDocument] {
        var entries: [SliceOwnerDocument] = []
        for slice in slices {
            let list: SliceOwnerList = try await admin.ask(AdminRoute.sliceOwners.path(slice.description))
            entries += list.owners
        }
        return entries
    }

    static func table(_ entries: [SliceOwnerDocument]) -> Table {
        let rows = entries.map { entry in
            [
                entry.slice.description, "\(entry.epoch)", entry.worker,
                Printing.time(ofUnixMilliseconds: entry.takenAt),
                entry.how.rawValue, entry.releasedAt.map { Printing.time(ofUnixMilliseconds: $0) }.cell,
            ]
        }
        return Table("SLICE", "EPOCH", "WORKER", "TAKEN", "HOW", "RELEASED", rows: rows)
    }
}
