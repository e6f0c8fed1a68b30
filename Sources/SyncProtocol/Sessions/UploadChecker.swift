package import SyncModel

/// The cursor rules for one session's UPLOADs (docs/protocol.md, "What the server checks"). All it throws is the
/// session's and calls for a client reset; an UPLOAD that fails changes nothing.
package struct UploadChecker: Hashable, Sendable {
    /// The upload cursor recorded for the file when it identified itself; nil while not known, and then not checked.
    package var threshold: UploadCursor?
    /// Of the last UPLOAD in this session.
    package private(set) var previous = UploadCursor()
    /// What the last UPLOAD, or the record of the file, promised to need no more.
    package private(set) var lockedServerVersion: ServerVersion
    /// The newest `dlServerVer` that the client has seen: of the IDENT, then of what was sent.
    package private(set) var downloadServerVersion: ServerVersion

    package init(
        downloadServerVersion: ServerVersion, threshold: UploadCursor? = nil, lockedServerVersion: ServerVersion = 0
    ) {
        self.downloadServerVersion = downloadServerVersion
        self.threshold = threshold
        self.lockedServerVersion = lockedServerVersion
    }

    package mutating func didSendDownload(to version: ServerVersion) {
        downloadServerVersion = max(downloadServerVersion, version)
    }

    /// What is on record for the file, once it is known.
    package mutating func identified(threshold: UploadCursor, lockedServerVersion: ServerVersion = 0) {
        self.threshold = threshold
        self.lockedServerVersion = max(self.lockedServerVersion, lockedServerVersion)
    }

    package mutating func check(_ upload: Upload) throws(SyncProtocolError) {
        func wrong(_ code: ErrorCode, _ message: String) -> SyncProtocolError {
            SyncProtocolError(code, session: upload.session, "UPLOAD: \(message)")
        }
        let progress = upload.progress
        guard progress.clientVersion >= previous.clientVersion else {
            throw wrong(.badClientVersion, "progClientVer decreases")
        }
        guard progress.serverVersion <= downloadServerVersion else {
            throw wrong(.badServerVersion, "progServerVer lies beyond what was sent")
        }
        guard progress.isConsistent else { throw wrong(.badServerVersion, "the progress is not consistent") }
        for (other, name) in [(threshold, "the recorded cursor"), (previous, "the last UPLOAD")] {
            guard other?.isMutuallyConsistent(with: progress) ?? true else {
                throw wrong(.badServerVersion, "the progress contradicts \(name)")
            }
        }
        guard upload.lockedServerVersion >= lockedServerVersion else {
            throw wrong(.badServerVersion, "lockedServerVer decreases")
        }
        guard upload.lockedServerVersion <= downloadServerVersion else {
            throw wrong(.badServerVersion, "lockedServerVer lies beyond what was sent")
        }
        var last = previous
        for entry in upload.entries {
            guard entry.clientVersion > last.clientVersion else {
                throw wrong(.badClientVersion, "the entries' clientVer do not increase")
            }
            guard entry.clientVersion <= progress.clientVersion else {
                throw wrong(.badClientVersion, "an entry's clientVer lies beyond progClientVer")
            }
            let cursor = entry.cursor
            guard cursor.isConsistent, cursor.isMutuallyConsistent(with: last),
                cursor.isMutuallyConsistent(with: progress),
                threshold.map({ cursor.isMutuallyConsistent(with: $0) }) ?? true
            else { throw wrong(.badServerVersion, "an entry's serverVer contradicts its neighbours") }
            last = cursor
        }
        previous = progress
        lockedServerVersion = upload.lockedServerVersion
    }
}
