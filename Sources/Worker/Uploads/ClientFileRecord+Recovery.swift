import Storage
import SyncModel

/// What a client goes on with after a reset (docs/resets.md, "What stock clients recover").
extension ClientFileRecord {
    /// Whether the client may have written a changeset before its reset: recovered changesets keep their times, and the client's clock may be a day
    /// ahead.
    func mayHaveRecovered(_ entry: UploadedChangeset) -> Bool {
        guard resetOf != nil else { return false }
        let (limit, isBeyond) = createdAt.addingReportingOverflow(AheadTime.patience)
        return isBeyond || entry.timestamp < SyncTimestamp(unixMilliseconds: Int64(clamping: limit))
    }

    /// Whether the client may have recovered a changeset, and has not said since that it has come further than its fresh copy.
    func beginsWithRecovered(_ entry: UploadedChangeset) -> Bool {
        mayHaveRecovered(entry) && (upload.clientVersion == 0 || upload.serverVersion >= entry.serverVersion)
    }
}
