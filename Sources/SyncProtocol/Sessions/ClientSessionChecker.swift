package import SyncModel

/// One bind as a client sees it: which of a server's messages may come when (docs/protocol.md, "What the client
/// checks"), and what DOWNLOADs may say. What it throws closes the connection. A new BIND, of the same session
/// too, takes a new checker.
package struct ClientSessionChecker: Sendable {
    package enum State: Hashable, Sendable {
        /// The server's IDENT is due.
        case waitingForIdent
        /// Bound, with an ident; the client's IDENT is due.
        case bound
        case live
        /// An error ended the session; only UNBIND may follow, from the client.
        case errorReceived
        /// UNBIND was sent before any error; UNBOUND, an error, or what crossed may come.
        case unbinding
        /// Nothing may come any more.
        case ended
    }

    package let session: SessionIdent
    package let mode: SyncMode
    package let version: ProtocolVersion
    package private(set) var state: State
    package private(set) var downloads: DownloadChecker?
    private var lastMark: RequestIdent?
    private var answeredMark: RequestIdent?
    private var pendingQueries: ClosedRange<QueryVersion>?

    package init(bind: Bind, mode: SyncMode, version: ProtocolVersion = .maximum) {
        self.session = bind.session
        self.mode = mode
        self.version = version
        self.state = bind.needsIdent ? .waitingForIdent : .bound
    }

    /// Our own mistake in the order of sending; nothing may be sent.
    private func refusal(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.badMessageOrder, session: session, fault: .sending, message)
    }

    private func violation(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.badMessageOrder, session: session, message)
    }

    /// The newest version of the client's own history; `upClientVer` must not lie beyond it.
    package mutating func setNewestClientVersion(_ version: ClientVersion) {
        downloads?.newestClientVersion = version
    }

    // MARK: To the server

    /// Takes note of the client's IDENT, with the upload cursor as persisted.
    package mutating func sendIdent(
        _ ident: Ident, upload: UploadCursor, newestClientVersion: ClientVersion?
    ) throws(SyncProtocolError) {
        guard state == .bound else { throw refusal("IDENT out of turn") }
        downloads = DownloadChecker(
            role: .receiving, file: ident.file.ident,
            progress: SyncProgress(download: ident.download, latest: ident.latest, upload: upload),
            newestClientVersion: newestClientVersion,
            activeQueryVersion: mode == .flexible ? ident.query?.version ?? 0 : nil, version: version)
        state = .live
    }

    /// Takes note of anything but BIND and IDENT.
    package mutating func send(_ message: ClientMessage) throws(SyncProtocolError) {
        switch message {
        case .bind, .ident: throw refusal("BIND and IDENT have calls of their own")
        case .ping, .testCommand: return
        case .unbind:
            guard state != .ended, state != .unbinding else { throw refusal("a second UNBIND") }
            state = state == .errorReceived ? .ended : .unbinding
        case .mark(_, let request):
            try needsLive(message)
            guard lastMark.map({ request > $0 }) ?? true else { throw refusal("MARK does not increase") }
            lastMark = request
        case .query(let query):
            try needsLive(message)
            let version = query.query.version
            guard pendingQueries.map({ version > $0.upperBound }) ?? true else {
                throw refusal("queryVer does not increase")
            }
            pendingQueries = (pendingQueries?.lowerBound ?? version)...version
        case .upload, .jsonError: try needsLive(message)
        }
    }

    private func needsLive(_ message: ClientMessage) throws(SyncProtocolError) {
        guard state == .live else { throw refusal("\(message.name) out of turn") }
    }

    // MARK: From the server

    package mutating func receive(_ message: ServerMessage) throws(SyncProtocolError) {
        if case .logMessage = message { return }
        guard state != .errorReceived, state != .ended else { throw violation("\(message.name) after the end") }
        switch message {
        case .ident:
            // A late one may cross the UNBIND.
            if state == .unbinding, downloads == nil { return }
            guard state == .waitingForIdent else { throw violation("IDENT not asked for") }
            state = .bound
        case .download(let download):
            guard var checker = downloads else { throw violation("DOWNLOAD before IDENT") }
            try checker.check(download)
            downloads = checker
        case .mark(_, let request):
            guard downloads != nil, let lastMark, request <= lastMark, answeredMark.map({ request > $0 }) ?? true
            else { throw violation("MARK \(request), which is not open") }
            answeredMark = request
        case .queryError(let error):
            guard downloads != nil, pendingQueries?.contains(error.queryVersion) == true,
                error.queryVersion > downloads?.activeQueryVersion ?? 0
            else { throw violation("QUERY_ERROR for set \(error.queryVersion), which is not pending") }
        case .unbound:
            guard state == .unbinding else { throw violation("UNBOUND without UNBIND") }
            state = .ended
        case .jsonError(_, let code, _): receiveError(code)
        case .error(let error): receiveError(error.code)
        case .testCommand, .pong, .logMessage: break
        }
    }

    private mutating func receiveError(_ code: ErrorCode) {
        if code.entry?.sessionContinues == true { return }
        state = state == .unbinding ? .ended : .errorReceived
    }
}
