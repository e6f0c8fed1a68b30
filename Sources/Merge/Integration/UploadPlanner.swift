/// What the upload scan and the trimming need to know of an entry in a client's history.
package struct ClientHistoryEntry: Hashable, Sendable {
    package var version: UInt64
    /// Made here, and not integrated from the server.
    package var isLocal: Bool
    /// The bytes of the changeset as it was made; 0 if it changes nothing.
    package var size: Int
    /// The last server version that was integrated when this version was made, including by it.
    package var serverVersion: UInt64

    package init(version: UInt64, isLocal: Bool, size: Int, serverVersion: UInt64) {
        self.version = version
        self.isLocal = isLocal
        self.size = size
        self.serverVersion = serverVersion
    }

    /// Whether the server has to get it.
    var isUploadable: Bool { isLocal && size > 0 }
}

/// Chooses what the next UPLOAD message carries (spec: merge-rules.md, 13.2).
package struct UploadPlanner: Hashable, Sendable {
    /// An upload is closed once it has this many bytes of changesets.
    package static let softLimitBytes = 128 << 10
    /// And does not grow beyond this, unless its first changeset alone does.
    package static let hardLimitBytes = 16 << 20

    package struct Batch: Hashable, Sendable {
        /// The local versions whose changesets to send: as they were made, never their reciprocals.
        package var versions: [UInt64]
        /// How far the scan has come, over empty entries and those from the server too.
        package var progress: UploadCursor
        package var lockedServerVersion: UInt64
    }

    /// The first entry that has not been scanned yet follows this version.
    package let cursor: UploadCursor

    package init(after cursor: UploadCursor) { self.cursor = cursor }

    /// The next upload, or nil if there is nothing to say: no changeset, and nothing integrated since the last one.
    ///
    /// - Parameter entries: our history after the cursor, by ascending version.
    package func next(_ entries: some Sequence<ClientHistoryEntry>, downloadServerVersion: UInt64) -> Batch? {
        var batch = Batch(versions: [], progress: cursor, lockedServerVersion: downloadServerVersion)
        var bytes = 0
        for entry in entries where entry.version > cursor.clientVersion {
            if entry.isUploadable {
                if !batch.versions.isEmpty, bytes + entry.size > Self.hardLimitBytes { break }
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

/// Which of a client's own history entries are of no more use (spec: merge-rules.md, 13.4).
package enum HistoryTrimming {
    /// The version up to which entries can go, and their reciprocals with them.
    ///
    /// No download will be based on anything before `downloadClientVersion`; entries after it can go too as long as no
    /// merge would ever look at them.
    ///
    /// - Parameter entries: our history by ascending version.
    package static func base(
        _ entries: some Sequence<ClientHistoryEntry>, downloadClientVersion: UInt64
    ) -> UInt64 {
        var base: UInt64 = 0
        for entry in entries {
            if entry.version > downloadClientVersion, entry.isUploadable { break }
            base = entry.version
        }
        return base
    }
}
