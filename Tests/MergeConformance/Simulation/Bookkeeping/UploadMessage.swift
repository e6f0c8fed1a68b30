import Merge
import SyncModel

/// What an UPLOAD message says beside its changesets.
struct UploadHeader: Hashable, Sendable {
    /// How far the client has scanned its own history, and what it had integrated there.
    var progress: UploadCursor
    /// The client's download cursor.
    var lockedServerVersion: UInt64
    /// The client version that this upload claims to follow, so that one that was lost before it is noticed; nil if it
    /// claims none.
    var follows: UInt64?

    init(progress: UploadCursor, lockedServerVersion: UInt64, follows: UInt64?) {
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
        self.follows = follows
    }
}

/// What an UPLOAD message says about one of its changesets.
struct UploadEntry: Hashable, Sendable {
    /// The changeset's version, and the server version that it is based on.
    var cursor: UploadCursor
    var originTimestamp: UInt64
    /// 0: the client itself. No other is allowed.
    var originFileIdent: UInt64

    init(cursor: UploadCursor, originTimestamp: UInt64, originFileIdent: UInt64) {
        self.cursor = cursor
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
    }
}
