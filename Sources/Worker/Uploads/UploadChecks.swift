import Messages
import Storage
import SyncModel

/// What the owner makes of an upload before it looks inside: pure.
enum UploadVerdict {
    /// These entries are new.
    case integrate([UploadedChangeset])
    /// Something before it is missing, or it contradicts what is recorded; the client uploads again from there.
    case retry(String)
    /// The client file's idea of its history cannot be right.
    case reset(code: ErrorCode, reason: String)
}

extension ChangesetMessage.Upload {
    /// - Parameters:
    ///   - current: the realm's latest server version.
    ///   - kept: the version after which everything is kept that an upload of this client file may have to be merged with.
    func verdict(
        on entries: [UploadedChangeset], file: ClientFileRecord, current: ServerVersion, kept: ServerVersion = 0
    ) -> UploadVerdict {
        let recorded = file.upload
        guard follows <= recorded.clientVersion else {
            return .retry(
                "the upload follows client version \(follows), and \(recorded.clientVersion) is the last one here")
        }
        var previous: UploadedChangeset?
        for entry in entries {
            guard entry.clientVersion > 0 else {
                return .reset(code: .badClientVersion, reason: "client version 0 holds no changes")
            }
            if let previous {
                guard entry.clientVersion > previous.clientVersion else {
                    return .reset(code: .badClientVersion, reason: "client versions of an upload do not grow")
                }
                guard entry.serverVersion >= previous.serverVersion else {
                    return .reset(code: .badServerVersion, reason: "server versions of an upload fall")
                }
            }
            previous = entry
        }
        if let last = entries.last {
            guard last.clientVersion <= progress.clientVersion, last.serverVersion <= progress.serverVersion else {
                return .reset(code: .badServerVersion, reason: "an upload's entries lie beyond its progress")
            }
        }
        guard progress.serverVersion <= current, lockedServerVersion <= current else {
            return .reset(
                code: .badServerVersion,
                reason: "an upload names server version \(progress.serverVersion); \(current) is the latest")
        }
        let new = Array(entries.drop { $0.clientVersion <= recorded.clientVersion })
        if let first = new.first {
            guard first.serverVersion >= recorded.serverVersion else {
                return .reset(
                    code: .badServerVersion,
                    reason:
                        "an upload is based on server version \(first.serverVersion), before \(recorded.serverVersion)")
            }
        }
        if let first = new.first, first.serverVersion < kept {
            return .reset(
                code: .clientFileExpired,
                reason:
                    "an upload is based on server version \(first.serverVersion), and the history up to \(kept) is compacted"
            )
        }
        return .integrate(new)
    }
}
