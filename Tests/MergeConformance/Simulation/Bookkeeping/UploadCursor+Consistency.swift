import Merge
import SyncModel

extension UploadCursor {
    /// A client that has no version yet cannot have integrated anything.
    var isConsistent: Bool { clientVersion != 0 || serverVersion == 0 }

    /// Going forward in one history never goes back in the other.
    func isConsistent(with other: UploadCursor) -> Bool {
        if clientVersion < other.clientVersion { return serverVersion <= other.serverVersion }
        if clientVersion > other.clientVersion { return serverVersion >= other.serverVersion }
        return serverVersion == other.serverVersion
    }
}
