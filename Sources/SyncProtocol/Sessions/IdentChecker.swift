package import SyncModel

/// The cursor rules for an IDENT (docs/protocol.md, "What the server checks"). All it throws is the session's and calls
/// for a client reset.
package enum IdentChecker {
    /// What no record is needed for.
    package static func check(_ ident: Ident) throws(SyncProtocolError) {
        guard ident.download.serverVersion <= ident.latest.version else {
            throw SyncProtocolError(
                .badServerVersion, session: ident.session, "IDENT: dlServerVer lies beyond latestServerVer")
        }
    }

    /// What must hold against the record of the client realm and the history as it stands.
    /// - Parameters:
    ///   - recorded: the upload cursor on record, (0, 0) for a new ident. A file that was never seen may have downloaded
    ///     all the same: clients before 14.10.3 reset so.
    ///   - current: the newest server version.
    package static func check(
        _ ident: Ident, salt: FileSalt, recorded: UploadCursor, current: ServerVersion
    ) throws(SyncProtocolError) {
        func wrong(_ code: ErrorCode, _ message: String) -> SyncProtocolError {
            SyncProtocolError(code, session: ident.session, "IDENT: \(message)")
        }
        guard ident.file.salt == salt else { throw wrong(.divergingHistories, "the file's salt does not match") }
        try check(ident)
        guard ident.latest.version <= current else {
            throw wrong(.badServerVersion, "latestServerVer lies beyond the history")
        }
        guard ident.download.serverVersion >= recorded.serverVersion else {
            throw wrong(.badServerVersion, "dlServerVer lies before the recorded upload")
        }
        guard ident.download.clientVersion <= recorded.clientVersion else {
            throw wrong(.badClientVersion, "dlClientVer lies beyond the recorded upload")
        }
    }
}
