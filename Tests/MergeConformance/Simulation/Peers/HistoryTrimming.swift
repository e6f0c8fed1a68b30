package import Merge
package import SyncModel

/// The rule by which entries of a client's own history are of no more use (docs/merge.md, "Trimming").
package enum HistoryTrimming {
    /// The version up to which entries can go, and their reciprocals with them.
    ///
    /// No download will be based on anything before `download.clientVersion`; entries after it can go too as long as no
    /// merge would ever look at them.
    ///
    /// - Parameter entries: the client's history by ascending version.
    package static func base(
        _ entries: some Sequence<ClientHistoryEntry>, downloadClientVersion: ClientVersion
    ) -> ClientVersion {
        var base: ClientVersion = 0
        for entry in entries {
            if entry.version > downloadClientVersion, entry.isUploadable { break }
            base = entry.version
        }
        return base
    }
}
