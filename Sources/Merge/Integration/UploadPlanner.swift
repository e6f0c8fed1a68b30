package import SyncModel

/// Chooses what the next UPLOAD message carries (docs/merge.md, "What the client uploads").
package struct UploadPlanner: Hashable, Sendable {
    /// An upload is closed once it has this many bytes of changesets.
    package static let softLimitBytes = 128 << 10
    /// And does not grow beyond this, unless its first changeset alone does: a server takes 15 MiB.
    package static let hardLimitBytes = 15 << 20
    /// The bytes that a changeset takes at most beside its own: its numbers.
    package static let headBytes = 128

    package struct Batch: Hashable, Sendable {
        /// The local versions whose changesets to send: as they were made, never their reciprocals.
        package var versions: [ClientVersion]
        /// How far the scan has come, over empty entries and those from the server too.
        package var progress: UploadCursor
    }

    /// The first entry that has not been scanned yet follows this version.
    package let cursor: UploadCursor

    package init(after cursor: UploadCursor) { self.cursor = cursor }

    /// The next upload, or nil if there is nothing to say: no changeset, and nothing integrated since the last one.
    ///
    /// - Parameter entries: our history after the cursor, by ascending version.
    package func next(_ entries: some Sequence<ClientHistoryEntry>) -> Batch? {
        var batch = Batch(versions: [], progress: cursor)
        var bytes = 0
        for entry in entries where entry.version > cursor.clientVersion {
            if entry.isUploadable {
                let heads = (batch.versions.count + 1) * Self.headBytes
                if !batch.versions.isEmpty, bytes + entry.size + heads > Self.hardLimitBytes { break }
                batch.versions.append(entry.version)
                bytes += entry.size
            }
            batch.progress = UploadCursor(clientVersion: entry.version, serverVersion: entry.serverVersion)
            if bytes >= Self.softLimitBytes { break }
        }
        if batch.versions.isEmpty, batch.progress.serverVersion <= cursor.serverVersion { return nil }
        return batch
    }
}
