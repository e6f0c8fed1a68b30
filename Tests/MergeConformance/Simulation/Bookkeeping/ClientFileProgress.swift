import Merge
import SyncModel

/// How far a client file has come, as the server has stored it (docs/merge.md, "Uploads at the server").
struct ClientFileProgress: Hashable, Sendable {
    /// The last of the client's versions that is integrated. What lies at or below it is never integrated again.
    var clientVersion: UInt64
    /// The last server version that the client had integrated at that point. Its uploads are based on this one or later
    /// ones, so reciprocals begin after it.
    var rhBaseVersion: UInt64
    /// The client's download cursor as it last reported it: it may ask for the history after this.
    var lockedServerVersion: UInt64

    init(clientVersion: UInt64 = 0, rhBaseVersion: UInt64 = 0, lockedServerVersion: UInt64 = 0) {
        self.clientVersion = clientVersion
        self.rhBaseVersion = rhBaseVersion
        self.lockedServerVersion = lockedServerVersion
    }

    /// The upload cursor, which in downloads is the client's acknowledgement.
    var cursor: UploadCursor { UploadCursor(clientVersion: clientVersion, serverVersion: rhBaseVersion) }
}
