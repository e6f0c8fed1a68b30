/// One change of a client's own history, as the client wrote it, on its way to the server.
package struct UploadedChangeset: Hashable, Sendable {
    /// Where it stands in the client's own history.
    package var clientVersion: ClientVersion
    /// The newest server version that the client had integrated before it.
    package var serverVersion: ServerVersion
    /// When it was written, by the client's clock.
    package var timestamp: SyncTimestamp
    package var changeset: [UInt8]

    package init(
        clientVersion: ClientVersion = 0, serverVersion: ServerVersion = 0, timestamp: SyncTimestamp,
        changeset: [UInt8]
    ) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
        self.timestamp = timestamp
        self.changeset = changeset
    }

    package var cursor: UploadCursor { UploadCursor(clientVersion: clientVersion, serverVersion: serverVersion) }
}

extension UploadedChangeset: Codable {
    private enum Key: String, CodingKey { case clientVersion, serverVersion, timestamp, changeset }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        clientVersion = try container.decode(ClientVersion.self, forKey: .clientVersion)
        serverVersion = try container.decode(ServerVersion.self, forKey: .serverVersion)
        timestamp = try container.decode(SyncTimestamp.self, forKey: .timestamp)
        changeset = try container.decode(HexBytes.self, forKey: .changeset).bytes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(clientVersion, forKey: .clientVersion)
        try container.encode(serverVersion, forKey: .serverVersion)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encode(HexBytes(changeset), forKey: .changeset)
    }
}
