/// What an UPLOAD message says beside its changesets.
package struct UploadHeader: Hashable, Sendable {
    /// How far the client has scanned its own history, and what it had integrated there.
    package var progress: UploadCursor
    /// The client's download cursor.
    package var lockedServerVersion: UInt64
    /// The client version that this upload claims to follow, so that one that was lost before it is noticed; nil if it
    /// claims none.
    package var follows: UInt64?

    package init(progress: UploadCursor, lockedServerVersion: UInt64, follows: UInt64?) {
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
        self.follows = follows
    }
}

/// What an UPLOAD message says about one of its changesets.
package struct UploadEntry: Hashable, Sendable {
    /// The changeset's version, and the server version that it is based on.
    package var cursor: UploadCursor
    package var originTimestamp: UInt64
    /// 0: the client itself. No other is allowed.
    package var originFileIdent: UInt64

    package init(cursor: UploadCursor, originTimestamp: UInt64, originFileIdent: UInt64) {
        self.cursor = cursor
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
    }
}
