/// UPLOAD: changesets of the client's history, and how far it has scanned it.
package struct Upload: Hashable, Sendable {
    package var session: SessionIdent
    /// How far the client scanned its history, and the newest server version integrated at that point.
    package var progress: UploadCursor
    /// The client's download cursor: history above must be kept for it.
    package var lockedServerVersion: ServerVersion
    /// Empty when it only reports progress.
    package var entries: [UploadEntry]

    package init(
        session: SessionIdent, progress: UploadCursor, lockedServerVersion: ServerVersion, entries: [UploadEntry] = []
    ) {
        self.session = session
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
        self.entries = entries
    }
}

/// One changeset on its way up.
package struct UploadEntry: Hashable, Sendable {
    package var clientVersion: ClientVersion
    /// The newest server version that the client had integrated before it.
    package var serverVersion: ServerVersion
    package var originTimestamp: SyncTimestamp
    /// 0: a client uploads its own changesets only.
    package var originFileIdent: FileIdent
    package var changeset: [UInt8]

    package init(
        clientVersion: ClientVersion, serverVersion: ServerVersion, originTimestamp: SyncTimestamp,
        originFileIdent: FileIdent = 0, changeset: [UInt8]
    ) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
        self.changeset = changeset
    }

    package var cursor: UploadCursor { UploadCursor(clientVersion: clientVersion, serverVersion: serverVersion) }
}
