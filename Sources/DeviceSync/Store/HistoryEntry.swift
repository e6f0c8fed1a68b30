import SyncModel

/// One commit in a synced realm's history (docs/merge.md, "Downloads at the client").
struct HistoryEntry: Sendable, Equatable {
    /// The version that the commit produced; the first is 2.
    var version: ClientVersion
    var originTimestamp: SyncTimestamp
    /// 0 for a write of this realm.
    var originFile: FileIdent
    /// The newest server version integrated at the time.
    var remoteVersion: ServerVersion
    /// The changeset of a local write, in streaming form; empty for a download.
    var changeset: [UInt8]
    /// The changeset as merges with later downloads have left it; nil while it is unchanged.
    var reciprocal: [UInt8]?

    /// The changeset that the next download is merged with.
    var merged: [UInt8] { reciprocal ?? changeset }
}
