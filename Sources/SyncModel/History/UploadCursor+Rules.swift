/// A rule that the cursors of an UPLOAD break. Its client file has to reset.
package struct CursorFault: Error, Hashable, Sendable {
    package var code: ErrorCode
    package var message: String

    package init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension UploadCursor {
    /// Checks the changesets of one UPLOAD among themselves and against its progress: their client versions increase and none
    /// lies beyond the progress, and all their cursors can be points on the way of one client (docs/protocol.md, "What the
    /// server checks").
    ///
    /// - Parameters:
    ///   - entries: the changesets' cursors, in order.
    ///   - previous: the progress of the UPLOAD before it in the same session.
    ///   - recorded: the client file's upload cursor as the server stored it, where it is known.
    package static func check(
        _ entries: some Sequence<UploadCursor>, after previous: UploadCursor = UploadCursor(),
        upTo progress: UploadCursor, recorded: UploadCursor? = nil
    ) throws(CursorFault) {
        var last = previous
        for entry in entries {
            guard entry.clientVersion > last.clientVersion else {
                throw CursorFault(.badClientVersion, "the entries' clientVer do not increase")
            }
            guard entry.clientVersion <= progress.clientVersion else {
                throw CursorFault(.badClientVersion, "an entry's clientVer lies beyond progClientVer")
            }
            guard entry.isConsistent, entry.isMutuallyConsistent(with: last),
                entry.isMutuallyConsistent(with: progress), recorded?.isMutuallyConsistent(with: entry) ?? true
            else { throw CursorFault(.badServerVersion, "an entry's serverVer contradicts its neighbours") }
            last = entry
        }
    }
}
