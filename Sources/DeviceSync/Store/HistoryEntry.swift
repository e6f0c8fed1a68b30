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
    /// Of a local write, in streaming form; empty for what came from the server.
    var changeset: [UInt8]
    /// The changeset as what the server sent later has left it; nil while it is unchanged.
    var reciprocal: [UInt8]?

    /// The changeset as a merge with what the server sends next has to meet it.
    var merged: [UInt8] { reciprocal ?? changeset }
}
