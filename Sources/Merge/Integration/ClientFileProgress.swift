package import SyncModel

/// How far a server has come with one client file. Stored with the client file, and advanced in the transaction that stores
/// what it speaks of.
package struct ClientFileProgress: Hashable, Sendable {
    /// The last client version that is integrated, and the server version that the client had integrated by then.
    ///
    /// A changeset at or below this client version is never integrated again, and one that is based on an older server
    /// version cannot be merged any more: the client's reciprocals begin after it.
    package var upload: UploadCursor
    /// The client's download cursor, as the client last reported it.
    package var lockedServerVersion: ServerVersion

    package init(upload: UploadCursor = UploadCursor(), lockedServerVersion: ServerVersion = 0) {
        self.upload = upload
        self.lockedServerVersion = lockedServerVersion
    }

    /// The progress once an upload is integrated. Cursors never go back: an upload that was delivered twice changes nothing,
    /// and one that moves the server version alone does not count (docs/merge.md, "Uploads at the
    /// server").
    func advanced(by head: UploadHead) -> ClientFileProgress {
        var progress = self
        progress.lockedServerVersion = max(lockedServerVersion, head.lockedServerVersion)
        guard head.progress.clientVersion > upload.clientVersion else { return progress }
        progress.upload.clientVersion = head.progress.clientVersion
        progress.upload.serverVersion = max(upload.serverVersion, head.progress.serverVersion)
        return progress
    }
}

/// The head of an UPLOAD, before anything of its body is read.
package struct UploadHead: Hashable, Sendable {
    /// The client version of the progress that the upload follows, by which a lost one before it is noticed.
    package var follows: ClientVersion
    /// How far the client has gone through its own history, and what it had integrated by then.
    package var progress: UploadCursor
    /// The client's download cursor.
    package var lockedServerVersion: ServerVersion

    package init(follows: ClientVersion, progress: UploadCursor, lockedServerVersion: ServerVersion) {
        self.follows = follows
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
    }
}
