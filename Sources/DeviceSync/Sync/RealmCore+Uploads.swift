internal import Merge
import SyncModel
internal import SyncProtocol

extension RealmCore {
    /// Reads the next upload off the local history.
    /// - Throws: `OversizedWrite` at a write that no server takes, of a release that stored such.
    func uploadScan(after cursor: UploadCursor, upTo version: ClientVersion) throws -> ClientSession.UploadScan {
        let planner = UploadPlanner(after: cursor)
        var isEmpty = true
        let next = try file.read { database in
            try HistoryRows(database).scan(after: cursor.clientVersion, upTo: version) { entries in
                planner.next(
                    entries.lazy.map { entry in
                        isEmpty = false
                        return entry
                    })
            }
        }
        guard let batch = next else {
            // What was integrated has left the history at once if nothing local was left to merge with.
            let integrated = isEmpty && version == snapshot.version ? sync.progress.download.serverVersion : 0
            return ClientSession.UploadScan(
                progress: UploadCursor(
                    clientVersion: version, serverVersion: max(cursor.serverVersion, integrated)))
        }
        var entries: [UploadedChangeset] = []
        if let first = batch.versions.first, let last = batch.versions.last {
            entries = try file.read { try HistoryRows($0).localEntries(after: first - 1, upTo: last) }.map { entry in
                UploadedChangeset(
                    clientVersion: entry.version, serverVersion: entry.remoteVersion, timestamp: entry.originTimestamp,
                    changeset: entry.changeset)
            }
        }
        if let entry = entries.first(where: { $0.changeset.count > ProtocolLimits.maxUploadedBytes }) {
            throw OversizedWrite(bytes: entry.changeset.count)
        }
        return ClientSession.UploadScan(progress: batch.progress, entries: entries)
    }
}
