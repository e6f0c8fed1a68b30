package import SyncModel

/// UPLOAD: changesets of the client's history, and how far it has scanned it.
package struct Upload: Hashable, Sendable {
    package var session: SessionIdent
    /// How far the client scanned its history, and the newest server version integrated at that point.
    package var progress: UploadCursor
    /// The client's download cursor: history above must be kept for it.
    package var lockedServerVersion: ServerVersion
    /// Empty when it only reports progress.
    package var entries: [UploadedChangeset]

    package init(
        session: SessionIdent, progress: UploadCursor, lockedServerVersion: ServerVersion,
        entries: [UploadedChangeset] = []
    ) {
        self.session = session
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
        self.entries = entries
    }
}
