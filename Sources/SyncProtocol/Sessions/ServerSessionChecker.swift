package import SyncModel

/// One session as a server sees it, from BIND to UNBIND (docs/protocol.md, "Sessions"): what may come, and what may be
/// sent.
///
/// Pure: it holds cursors and no data. Normally reached through `ServerConnectionChecker`.
package struct ServerSessionChecker: Sendable {
    package enum State: Hashable, Sendable {
        /// The client waits for its IDENT.
        case allocating
        /// The client's IDENT is due.
        case waitingForIdent
        case live
        /// The client has said that it cannot integrate; it ignores what is sent until an error ends the session.
        case clientFailed
        /// Something wrong came; the error is about to be sent.
        case failing
        /// An error was sent; only UNBIND counts.
        case errorSent
        /// UNBIND came; UNBOUND is due.
        case unbinding
    }

    package let bind: Bind
    package let mode: SyncMode
    package let version: ProtocolVersion
    package private(set) var state: State
    /// The client file as it was allocated, then as the client's IDENT names it.
    package private(set) var file: ClientFileIdent?
    private var uploads = UploadChecker()
    /// The checker of DOWNLOADs, from the client's IDENT on. Its progress is what the client has been told.
    private var downloads: DownloadChecker?
    /// The newest MARK that came, and the newest that was answered.
    private var lastMark: RequestIdent?
    private var answeredMark: RequestIdent?
    private var lastQuery: QueryVersion?
    private var lastCompensation: ServerVersion = 0

    /// - Parameter version: the client's build, as for `MessageEncoder`.
    package init(bind: Bind, mode: SyncMode, version: ProtocolVersion) {
        self.bind = bind
        self.mode = mode
        self.version = min(version, .maximum)
        self.state = bind.needsIdent ? .allocating : .waitingForIdent
    }

    package var session: SessionIdent { bind.session }
    /// Whether it holds its client realm: no other session may identify as the same.
    var holdsFile: Bool { state == .live || state == .clientFailed }

    /// Tells the checker what is on record for the file. Until it is told, UPLOADs are not checked against it.
    package mutating func identified(upload: UploadCursor, lockedServerVersion: ServerVersion = 0) {
        uploads.identified(upload: upload, lockedServerVersion: lockedServerVersion)
        downloads?.identified(upload: upload)
    }

    // MARK: From the client

    package mutating func receive(_ message: ClientMessage) -> ServerVerdict {
        do {
            return try verdict(on: message)
        } catch {
            state = .failing
            return .fail(error)
        }
    }

    private func outOfTurn(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.badMessageOrder, session: session, message)
    }

    private mutating func verdict(on message: ClientMessage) throws(SyncProtocolError) -> ServerVerdict {
        switch (message, state) {
        case (.unbind, .errorSent): return .unbind(answer: false)
        case (_, .errorSent): return .ignore
        case (_, .unbinding): throw outOfTurn("\(message.name) after UNBIND")
        case (.unbind, _):
            state = .unbinding
            return .unbind(answer: true)
        case (_, .failing): return .ignore
        case (.bind, _): throw SyncProtocolError(.reuseOfSessionIdent, session: session, "BIND of a bound session")
        case (.ping, _), (.testCommand, _): return .accept
        case (.ident(let ident), .waitingForIdent):
            try identify(ident)
            return .accept
        case (.ident, .allocating): throw outOfTurn("IDENT before the server's")
        case (.ident, _): throw outOfTurn("a second IDENT")
        case (_, .allocating), (_, .waitingForIdent): throw outOfTurn("\(message.name) before IDENT")
        case (_, .clientFailed): return .ignore
        case (.upload(let upload), .live):
            try uploads.check(upload, sent: downloads?.progress.download.serverVersion ?? 0)
            downloads?.clientReached(upload.progress.clientVersion)
            return .accept
        case (.mark(_, let request), .live):
            lastMark = max(lastMark ?? request, request)
            return .accept
        case (.query(let query), .live):
            guard query.query.version > lastQuery ?? 0 else { throw outOfTurn("queryVer does not increase") }
            lastQuery = query.query.version
            return .accept
        case (.jsonError, .live):
            state = .clientFailed
            return .accept
        }
    }

    private mutating func identify(_ ident: Ident) throws(SyncProtocolError) {
        guard file == nil || file == ident.file else {
            throw SyncProtocolError(.badClientFileIdent, session: session, "IDENT: not the ident that was allocated")
        }
        guard ident.download.serverVersion <= ident.latest.version else {
            throw SyncProtocolError(
                .badServerVersion, session: session, "IDENT: dlServerVer lies beyond latestServerVer")
        }
        file = ident.file
        // The recorded upload cursor is at least what the client has downloaded of it.
        let upload = UploadCursor(clientVersion: ident.download.clientVersion)
        downloads = DownloadChecker(
            role: .sending, file: ident.file.ident,
            progress: SyncProgress(download: ident.download, latest: ident.latest, upload: upload),
            newestClientVersion: nil, activeQueryVersion: mode == .flexible ? ident.query?.version ?? 0 : nil,
            version: version)
        state = .live
    }

    // MARK: To the client

    private func refusal(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.badMessageOrder, session: session, fault: .sending, message)
    }

    /// Checks what is about to be sent and takes note of it; call it right before encoding.
    package mutating func send(_ message: ServerMessage) throws(SyncProtocolError) {
        if case .logMessage = message { return }
        if case .unbound = message {
            guard state == .unbinding else { throw refusal("UNBOUND without an UNBIND, or after an error") }
            return
        }
        guard state != .errorSent else { throw refusal("\(message.name) after an error") }
        switch message {
        case .ident(_, let file):
            guard state == .allocating else { throw refusal("IDENT without need") }
            self.file = file
            state = .waitingForIdent
        case .download(let download):
            guard var checker = downloads else { throw refusal("DOWNLOAD before the client's IDENT") }
            try checker.check(download)
            downloads = checker
        case .mark(_, let request):
            guard let lastMark, request <= lastMark, answeredMark.map({ request > $0 }) ?? true else {
                throw refusal("MARK \(request), which is not open")
            }
            answeredMark = request
        case .queryError(let error):
            guard let lastQuery, error.queryVersion <= lastQuery,
                error.queryVersion > downloads?.activeQueryVersion ?? 0
            else { throw refusal("QUERY_ERROR for set \(error.queryVersion), which is not pending") }
        case .jsonError(_, let code, let body): try sendError(code, compensation: body.compensatingWriteServerVersion)
        case .error(let error): try sendError(error.code, compensation: nil)
        case .testCommand:
            guard state != .unbinding else { throw refusal("test_command after UNBIND") }
        case .unbound, .pong, .logMessage: break
        }
    }

    private mutating func sendError(_ code: ErrorCode, compensation: ServerVersion?) throws(SyncProtocolError) {
        guard state != .unbinding else { throw refusal("an error after UNBIND") }
        guard code.entry?.sessionContinues == true else {
            state = .errorSent
            return
        }
        if code == .compensatingWrite, let compensation {
            guard compensation >= lastCompensation else { throw refusal("231 out of order") }
            lastCompensation = compensation
        }
    }
}
