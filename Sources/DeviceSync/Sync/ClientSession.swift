import SyncModel
internal import SyncProtocol

/// One sync session as a state machine: what to send next, and what an event means. It does no I/O
/// (docs/protocol.md, "Sessions").
struct ClientSession: Sendable {
    enum Phase: Sendable, Equatable {
        /// Nothing sent on this connection; BIND is due.
        case unbound
        /// The server's IDENT is due.
        case waitingForIdent
        /// Our IDENT is due.
        case bound
        case live
        /// A DOWNLOAD could not be integrated: JSON_ERROR is due or sent, then silence.
        case failed
        /// An error ended the bind; UNBIND is due or sent, then a timer.
        case suspended
        /// The app ends the session: UNBIND is due or sent.
        case unbinding
        case ended
    }

    /// What the session's owner has to do.
    enum Action: Sendable, Equatable {
        case persistIdent(ClientFileIdent)
        case integrate(Download)
        /// Every mark up to this one has been answered.
        case markReached(RequestIdent)
        case sessionError(ErrorCode, JSONErrorBody)
        /// The server refuses a subscription set.
        case queryRefused(QueryVersion, String)
    }

    /// What a scan of the local history found.
    struct UploadScan: Sendable, Equatable {
        /// How far it went, with the newest server version integrated at that point.
        var progress: UploadCursor
        var entries: [UploadedChangeset] = []
    }

    let ident: SessionIdent
    /// What BIND asks for: a partition's path, or the text of a `FlexibleTarget`.
    let target: String
    /// Whether it may upload at all; the fresh copy of a client reset may not.
    let uploads: Bool
    private(set) var phase: Phase = .unbound
    private(set) var fileIdent: ClientFileIdent?
    /// The progress as persisted.
    private(set) var progress: SyncProgress
    /// The newest version of the local history.
    private(set) var newestVersion: ClientVersion
    /// The subscription sets as persisted; nil in partition mode.
    private var subscriptions: SubscriptionSets?
    /// The newest set that the server has been asked for on this bind, or has in force.
    private(set) var askedFor: QueryVersion = 0

    /// While set, IDENT is held back: the merge of a client reset has to run first.
    private(set) var isHoldingIdent: Bool
    private(set) var isUploadAllowed: Bool
    private(set) var scanned = UploadCursor()
    private var lastReported: ServerVersion = 0
    private(set) var markTarget: RequestIdent
    private var markSent: RequestIdent = 0
    private(set) var markReceived: RequestIdent = 0
    /// The error to be sent to the server; nil once it is sent.
    private var failure: ClientJSONError?
    private var unbindSent = false
    private var bindSent = false

    /// Whether a mark is due that is not yet sent on the present connection, or on the next one.
    var hasMarkToSend: Bool { markTarget > (phase == .unbound ? markReceived : markSent) }

    /// Whether the session has ended, or an error ended it and UNBIND is out or not owed.
    var hasLeft: Bool { phase == .ended || (phase == .suspended && (unbindSent || !bindSent)) }

    /// - Parameters:
    ///   - lastMark: the newest request ident used by an earlier session of the same realm.
    ///   - holdsIdent: whether IDENT waits for `release`.
    init(
        ident: SessionIdent, target: String, fileIdent: ClientFileIdent?, progress: SyncProgress,
        newestVersion: ClientVersion, subscriptions: SubscriptionSets? = nil, uploads: Bool = true,
        holdsIdent: Bool = false, lastMark: RequestIdent = 0
    ) {
        self.ident = ident
        self.target = target
        self.subscriptions = subscriptions
        self.fileIdent = fileIdent
        self.progress = progress
        self.newestVersion = newestVersion
        self.uploads = uploads
        isHoldingIdent = holdsIdent
        // The recovered writes of a client reset need no gate: what they build on was just downloaded.
        isUploadAllowed = holdsIdent
        markTarget = RequestIdent(lastMark.rawValue + 1)
        markSent = lastMark
        markReceived = lastMark
    }

    // MARK: Events

    /// The connection is up. Unless it was down for a moment only, uploading waits for what the server has.
    mutating func connected(fastReconnect: Bool) {
        guard phase != .unbinding else {
            phase = .ended
            return
        }
        guard phase != .ended else { return }
        if phase != .suspended { rebind() }
        if !fastReconnect, !isHoldingIdent, bindCount > 0 {
            isUploadAllowed = false
            requestMark()
        }
    }

    private var bindCount = 0

    /// The connection is gone; what was sent and not answered will be sent again.
    mutating func disconnected() {
        switch phase {
        case .unbinding: phase = .ended
        case .suspended: unbindSent = true
        case .ended: break
        default: phase = .unbound
        }
    }

    /// The delay after an error is over, or the app does not want to wait.
    mutating func resume() {
        guard phase == .suspended else { return }
        rebind()
    }

    private mutating func rebind() {
        phase = .unbound
        bindSent = false
        unbindSent = false
        failure = nil
        markSent = markReceived
    }

    /// The app, or a logout, ends the session.
    mutating func end() {
        switch phase {
        case .ended, .unbinding: return
        case .unbound where !bindSent: phase = .ended
        // After an error the server owes no UNBOUND.
        case .suspended: if unbindSent { phase = .ended }
        default: phase = .unbinding
        }
    }

    mutating func localVersion(_ version: ClientVersion) { newestVersion = max(newestVersion, version) }

    /// The realm's subscription sets, or what has become of them, have changed.
    mutating func subscriptionsChanged(_ sets: SubscriptionSets) {
        subscriptions = sets
        // The mark that followed the set should be answered after its data; one that was answered before completes nothing.
        if phase == .live, sets.active?.state == .awaitingMark, !isMarkOpen { requestMark() }
    }

    /// Whether the answer to a mark is still to come.
    var isMarkOpen: Bool { markReceived < markTarget }

    /// Asks for a notice once everything the server has now is here.
    /// - Returns: the mark to wait for.
    @discardableResult
    mutating func requestMark() -> RequestIdent {
        markTarget = RequestIdent(max(markTarget.rawValue, max(markSent.rawValue, markReceived.rawValue)) + 1)
        return markTarget
    }

    /// The mark that is to be answered next: one that is on its way already, as the first of a session is, or else a new one.
    mutating func openMark() -> RequestIdent { isMarkOpen ? markTarget : requestMark() }

    /// The merge of a client reset is committed: go on as this file, from here.
    mutating func release(fileIdent: ClientFileIdent, progress: SyncProgress, newestVersion: ClientVersion) {
        isHoldingIdent = false
        self.fileIdent = fileIdent
        self.progress = progress
        self.newestVersion = newestVersion
        scanned = progress.upload
        lastReported = progress.latest.version
    }

    /// A DOWNLOAD has been integrated.
    mutating func integrated(_ progress: SyncProgress, newestVersion: ClientVersion) {
        self.progress = progress
        self.newestVersion = max(self.newestVersion, newestVersion)
        if progress.upload.clientVersion > scanned.clientVersion { scanned = progress.upload }
    }

    /// A DOWNLOAD is wrong and cannot be integrated; the server is told, then nothing more is sent.
    mutating func integrationFailed(_ code: ErrorCode, _ message: String) {
        guard phase == .live else { return }
        phase = .failed
        failure = ClientJSONError(session: ident, code: code, message: message)
    }

    // MARK: Receiving; the order was checked before

    mutating func receive(_ message: ServerMessage) -> Action? {
        switch message {
        case .ident(let session, let file) where session == ident:
            guard phase == .waitingForIdent else { return nil }
            fileIdent = file
            phase = .bound
            return .persistIdent(file)
        case .download(let download): return phase == .live ? .integrate(download) : nil
        case .mark(_, let request):
            markReceived = max(markReceived, request)
            guard phase == .live else { return nil }
            isUploadAllowed = true
            return .markReached(request)
        case .unbound:
            phase = .ended
            return nil
        case .jsonError(_, let code, let body):
            if code.entry?.sessionContinues != true { stop() }
            return .sessionError(code, body)
        case .error(let error):
            // Without the JSON that would say what to do.
            stop()
            let body = JSONErrorBody(message: error.message, action: .applicationBug, tryAgain: error.tryAgain)
            return .sessionError(error.code, body)
        case .queryError(let error): return .queryRefused(error.queryVersion, error.message)
        case .ident, .pong, .logMessage, .testCommand: return nil
        }
    }

    private mutating func stop() {
        guard phase != .unbinding else {
            // The error crossed our UNBIND: nothing more will come.
            phase = unbindSent ? .ended : .unbinding
            return
        }
        phase = .suspended
    }

    // MARK: Sending

    /// The next message in the order of section 8, nil if there is nothing to send now.
    /// - Parameter scan: reads the local history from a cursor on, up to a version.
    mutating func nextMessage(scan: (UploadCursor, ClientVersion) throws -> UploadScan) rethrows -> ClientMessage? {
        switch phase {
        case .unbound:
            bindSent = true
            bindCount += 1
            scanned = progress.upload
            lastReported = progress.upload.serverVersion
            phase = fileIdent == nil ? .waitingForIdent : .bound
            return .bind(Bind(session: ident, target: target, needsIdent: fileIdent == nil))
        case .bound:
            guard !isHoldingIdent, let fileIdent else { return nil }
            phase = .live
            let query = subscriptions?.activeQuerySet
            askedFor = query?.version ?? 0
            return .ident(
                Ident(
                    session: ident, file: fileIdent, download: progress.download, latest: progress.latest,
                    query: query))
        case .live:
            if markTarget > markSent {
                markSent = markTarget
                return .mark(session: ident, request: markTarget)
            }
            if let query = nextQuery() { return query }
            if let upload = try nextUpload(scan) { return upload }
            // The scan may have found that there is nothing to upload before the next set.
            return nextQuery()
        case .failed:
            return failure.take().map { .jsonError($0) }
        case .suspended, .unbinding:
            guard bindSent, !unbindSent else { return nil }
            unbindSent = true
            return .unbind(session: ident)
        case .waitingForIdent, .ended: return nil
        }
    }

    /// The first subscription set that the server has still to be asked for on this bind.
    private var nextSet: SubscriptionSet? { subscriptions?.pending(after: askedFor) }

    /// The next subscription set, once everything is uploaded that was written before it. A mark follows, which completes the
    /// set.
    private mutating func nextQuery() -> ClientMessage? {
        guard isUploadAllowed, let set = nextSet, !uploads || scanned.clientVersion >= set.snapshot else { return nil }
        askedFor = set.version
        requestMark()
        return .query(SyncProtocol.Query(session: ident, query: set.querySet))
    }

    /// Changes, or a report on progress alone if what was integrated has moved past the last report. What was written after a
    /// subscription set waits until the server has been asked for the set.
    private mutating func nextUpload(
        _ scan: (UploadCursor, ClientVersion) throws -> UploadScan
    ) rethrows -> ClientMessage? {
        let next = nextSet
        let end = next.map { min($0.snapshot, newestVersion) } ?? newestVersion
        guard uploads, isUploadAllowed, end > scanned.clientVersion else { return nil }
        let found = try scan(scanned, end)
        scanned = found.progress
        let mayReport = next == nil && found.progress.serverVersion > lastReported
        guard !found.entries.isEmpty || mayReport else { return nil }
        lastReported = max(lastReported, found.progress.serverVersion)
        return .upload(
            Upload(
                session: ident, progress: found.progress, lockedServerVersion: progress.download.serverVersion,
                entries: found.entries))
    }
}
