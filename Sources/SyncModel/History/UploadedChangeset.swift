/// One change of a client's own history, as the client wrote it, on its way to the server.
package struct UploadedChangeset: Hashable, Codable, Sendable {
    /// Where it stands in the client's own history.
    package var clientVersion: ClientVersion
    /// The newest server version that the client had integrated before it.
    package var serverVersion: ServerVersion
    /// When it was written, by the client's clock.
    package var timestamp: SyncTimestamp
    @HexBytes package var changeset: [UInt8]

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
