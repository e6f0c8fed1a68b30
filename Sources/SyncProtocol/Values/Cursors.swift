/// A client realm's identity: its number and the secret that goes with it.
package struct ClientFileIdent: Hashable, Codable, Sendable {
    package var ident: FileIdent
    package var salt: FileSalt

    package init(ident: FileIdent, salt: FileSalt) {
        self.ident = ident
        self.salt = salt
    }
}

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

/// How far a client has uploaded: `clientVersion` of its history, made when it had seen `serverVersion`.
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

/// A server version with the salt that ties it to one line of history.
package struct SaltedServerVersion: Hashable, Codable, Sendable {
    package var version: ServerVersion
    package var salt: VersionSalt

    package init(version: ServerVersion = 0, salt: VersionSalt = 0) {
        self.version = version
        self.salt = salt
    }
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
