import SyncModel

/// The cursor rules for one session's UPLOADs (docs/protocol.md, "What the server checks"). Every error it throws is the
/// session's and calls for a client reset; an UPLOAD that fails changes nothing.
struct UploadChecker: Hashable, Sendable {
    /// The upload cursor on record for the file when it identified itself; nil while not known, and then not checked.
    private var recorded: UploadCursor?
    /// The progress of the last UPLOAD in this session.
    private var previous = UploadCursor()
    /// What the last UPLOAD, or the record of the file, promised to need no more.
    private var lockedServerVersion: ServerVersion = 0

    /// What is on record for the file, once it is known.
    mutating func identified(upload: UploadCursor, lockedServerVersion: ServerVersion) {
        recorded = upload
        self.lockedServerVersion = max(self.lockedServerVersion, lockedServerVersion)
    }

    /// - Parameter sent: the newest server version that the client can have seen.
    mutating func check(_ upload: Upload, sent: ServerVersion) throws(SyncProtocolError) {
        func wrong(_ code: ErrorCode, _ message: String) -> SyncProtocolError {
            SyncProtocolError(code, session: upload.session, "UPLOAD: \(message)")
        }
        let progress = upload.progress
        guard progress.clientVersion >= previous.clientVersion else {
            throw wrong(.badClientVersion, "progClientVer decreases")
        }
        guard progress.serverVersion <= sent else {
            throw wrong(.badServerVersion, "progServerVer lies beyond what was sent")
        }
        guard progress.isConsistent else { throw wrong(.badServerVersion, "the progress is not consistent") }
        for (other, name) in [(recorded, "the recorded cursor"), (previous, "the last UPLOAD")] {
            guard other?.isMutuallyConsistent(with: progress) ?? true else {
                throw wrong(.badServerVersion, "the progress contradicts \(name)")
            }
        }
        guard upload.lockedServerVersion >= lockedServerVersion else {
            throw wrong(.badServerVersion, "lockedServerVer decreases")
        }
        guard upload.lockedServerVersion <= sent else {
            throw wrong(.badServerVersion, "lockedServerVer lies beyond what was sent")
        }
        do throws(CursorFault) {
            try UploadCursor.check(
                upload.entries.lazy.map(\.cursor), after: previous, upTo: progress, recorded: recorded)
        } catch {
            throw wrong(error.code, error.message)
        }
        previous = progress
        lockedServerVersion = upload.lockedServerVersion
    }
}
