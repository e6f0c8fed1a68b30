/// One version of a realm's history: a changeset as the server has merged it, on its way to clients.
package struct HistoryEntry: Hashable, Codable, Sendable {
    /// Never 0.
    package var serverVersion: ServerVersion
    /// The author's own version of the changeset in a realm's history; 0 if the server is the author. On the way to one
    /// client (a page, a DOWNLOAD), that client's newest version that the server had integrated before this entry.
    package var clientVersion: ClientVersion
    /// The author, never 0. Nothing is sent to its own author.
    package var originFile: FileIdent
    /// When the author wrote it, by the author's clock.
    package var timestamp: SyncTimestamp
    /// The changeset in the normalised form; empty if the merge left nothing of it.
    @HexBytes package var changeset: [UInt8]

    package init(
        serverVersion: ServerVersion, clientVersion: ClientVersion, originFile: FileIdent, timestamp: SyncTimestamp,
        changeset: [UInt8]
    ) {
        self.serverVersion = serverVersion
        self.clientVersion = clientVersion
        self.originFile = originFile
        self.timestamp = timestamp
        self.changeset = changeset
    }
}
