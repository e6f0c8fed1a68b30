package import SyncModel

extension ClientFileProgress {
    /// Checks the cursors of an IDENT against what is recorded of its client file (docs/protocol.md, "What the server checks").
    /// A client whose cursors cannot be right has to reset.
    ///
    /// An ident that was never seen has nothing recorded, and may have downloaded all the same: clients before 14.10.3 reset so.
    ///
    /// - Parameters:
    ///   - latest: the server version that the client takes for the latest.
    ///   - current: the realm's latest server version.
    ///   - isKept: whether what follows `download` for the client file is still there.
    package func check(
        _ download: DownloadCursor, latest: ServerVersion, current: ServerVersion, isKept: Bool = true
    ) throws(CursorFault) {
        guard download.serverVersion >= upload.serverVersion else {
            throw CursorFault(
                .badServerVersion,
                "download cursor \(download.serverVersion) lies before what the client has uploaded on")
        }
        guard isKept else {
            throw CursorFault(
                .clientFileExpired, "the history after server version \(download.serverVersion) is compacted")
        }
        guard download.clientVersion <= upload.clientVersion else {
            throw CursorFault(.badClientVersion, "client version \(download.clientVersion) was never integrated")
        }
        guard download.serverVersion <= latest, latest <= current else {
            throw CursorFault(
                .badServerVersion, "server version \(latest) does not exist; the latest is \(current)")
        }
    }
}
