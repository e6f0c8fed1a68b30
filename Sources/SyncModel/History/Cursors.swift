/// How far a client has downloaded: it holds all server history up to `serverVersion`, at or before which the
/// server had integrated the client's own history up to `clientVersion`.
package struct DownloadCursor: Hashable, Codable, Sendable {
    package var serverVersion: ServerVersion
    package var clientVersion: ClientVersion

    package init(serverVersion: ServerVersion = 0, clientVersion: ClientVersion = 0) {
        self.serverVersion = serverVersion
        self.clientVersion = clientVersion
    }
}

/// How far a client has uploaded: up to `clientVersion` of its own history, which it wrote when it had integrated the
/// server's up to `serverVersion`.
package struct UploadCursor: Hashable, Codable, Sendable {
    package var clientVersion: ClientVersion
    package var serverVersion: ServerVersion

    package init(clientVersion: ClientVersion = 0, serverVersion: ServerVersion = 0) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
    }

    /// No client can have seen server history before it had any of its own (docs/protocol.md, "What the server
    /// checks").
    package var isConsistent: Bool { clientVersion != 0 || serverVersion == 0 }

    /// Whether both can be points on the way of one client: the later has seen at least what the earlier had.
    package func isMutuallyConsistent(with other: UploadCursor) -> Bool {
        if clientVersion == other.clientVersion { return serverVersion == other.serverVersion }
        return clientVersion < other.clientVersion
            ? serverVersion <= other.serverVersion : other.serverVersion <= serverVersion
    }
}

extension UploadCursor: CustomStringConvertible {
    package var description: String { "client version \(clientVersion) at server version \(serverVersion)" }
}

/// All cursors of one client realm; what a DOWNLOAD carries and a client persists.
package struct SyncProgress: Hashable, Codable, Sendable {
    package var download: DownloadCursor
    package var latest: SaltedServerVersion
    package var upload: UploadCursor

    package init(
        download: DownloadCursor = DownloadCursor(), latest: SaltedServerVersion = SaltedServerVersion(),
        upload: UploadCursor = UploadCursor()
    ) {
        self.download = download
        self.latest = latest
        self.upload = upload
    }
}
