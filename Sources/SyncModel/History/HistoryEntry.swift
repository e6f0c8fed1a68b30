/// One version of a realm's history: a changeset as the server has merged it, on its way to clients.
package struct HistoryEntry: Hashable, Sendable {
    /// Never 0.
    package var serverVersion: ServerVersion
    /// In a realm's history, the author's own version of the changeset; 0 if the server is the author. On the way to one
    /// client (a page, a DOWNLOAD), that client's newest version that the server had integrated before this entry.
    package var clientVersion: ClientVersion
    /// The author, never 0. Nothing is sent to its own author.
    package var originFile: FileIdent
    /// When the author wrote it, by the author's clock.
    package var timestamp: SyncTimestamp
    /// In the normalised form; empty if the merge left nothing of it.
    package var changeset: [UInt8]

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

extension HistoryEntry: Codable {
    private enum Key: String, CodingKey { case serverVersion, clientVersion, originFile, timestamp, changeset }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        serverVersion = try container.decode(ServerVersion.self, forKey: .serverVersion)
        clientVersion = try container.decode(ClientVersion.self, forKey: .clientVersion)
        originFile = try container.decode(FileIdent.self, forKey: .originFile)
        timestamp = try container.decode(SyncTimestamp.self, forKey: .timestamp)
        changeset = try container.decode(HexBytes.self, forKey: .changeset).bytes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(serverVersion, forKey: .serverVersion)
        try container.encode(clientVersion, forKey: .clientVersion)
        try container.encode(originFile, forKey: .originFile)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encode(HexBytes(changeset), forKey: .changeset)
    }
}
