package import SyncModel

/// The verdict of a server on an upload before it looks inside.
package enum UploadVerdict: Hashable, Sendable {
    /// The entries from this one on are new. If none is, the upload is a repetition, or reports progress alone.
    case integrate(from: Int)
    /// An upload before this one is missing. The client uploads again from the recorded progress.
    case retry(String)
    /// The client file's idea of its history cannot be right, so it has to reset.
    case reset(ErrorCode, String)
}

extension ClientFileProgress {
    /// Decides what an upload means. Uploads may come twice and in any order; by this their effect comes once, and in order.
    ///
    /// - Parameters:
    ///   - entries: the cursors of all changesets of the upload, in order.
    ///   - latest: the realm's newest server version.
    ///   - kept: the server version after which everything is kept that an upload of this client file may meet.
    package func verdict(
        on head: UploadHead, entries: some Collection<UploadCursor>, latest: ServerVersion, kept: ServerVersion = 0
    ) -> UploadVerdict {
        guard head.follows <= upload.clientVersion else {
            return .retry(
                "the upload follows client version \(head.follows), and \(upload.clientVersion) is the last one here")
        }
        do throws(CursorFault) {
            try UploadCursor.check(entries, upTo: head.progress)
        } catch {
            return .reset(error.code, "an upload cannot be right: \(error.message)")
        }
        guard head.progress.serverVersion <= latest, head.lockedServerVersion <= latest else {
            return .reset(
                .badServerVersion,
                "an upload names server version \(max(head.progress.serverVersion, head.lockedServerVersion)); "
                    + "\(latest) is the latest")
        }
        var known = 0
        for entry in entries {
            guard entry.clientVersion > upload.clientVersion else {
                known += 1
                continue
            }
            // The first new entry has the oldest base.
            guard entry.serverVersion >= upload.serverVersion else {
                return .reset(
                    .badServerVersion,
                    "an upload is based on server version \(entry.serverVersion), before \(upload.serverVersion)")
            }
            guard entry.serverVersion >= kept else {
                return .reset(
                    .clientFileExpired,
                    "an upload is based on server version \(entry.serverVersion), and the history up to \(kept) is "
                        + "compacted")
            }
            break
        }
        return .integrate(from: known)
    }
}
