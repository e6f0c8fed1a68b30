import SyncModel
import SyncProtocol
import WireClient

/// A client's WebSocket to a gateway that knows the protocol and minds none of a client's rules: it says what it is told
/// to say, and keeps what it hears.
actor Line {
    /// What a session has brought so far.
    struct Session: Sendable {
        var file: ClientFileIdent?
        var progress = SyncProgress()
        var downloads = 0
        var mark: RequestIdent = 0
        var lastMark: RequestIdent = 0
        /// The newest subscription set that was asked for, and the newest that was refused; flexible mode only.
        var set: QueryVersion = 0
        var refusedSet: QueryVersion = 0
        var isUnbound = false
        var error: Int?
        /// The newest version of the client realm's own history.
        var version: ClientVersion = 1
    }

    private struct Waiter {
        var isSo: @Sendable (isolated Line) -> Bool
        var continuation: CheckedContinuation<Bool, Never>
    }

    static let encoder = MessageEncoder(mode: .partition)

    private let encoder: MessageEncoder
    private let parser: ServerMessageParser
    /// Every message with the moment at which it came, for a client that follows; nothing if nobody asked for it.
    nonisolated let messages: AsyncStream<(ServerMessage, ContinuousClock.Instant)>
    private let follower: AsyncStream<(ServerMessage, ContinuousClock.Instant)>.Continuation?
    private let tcp: TCPSocket
    private let tally: Tally
    private(set) var sessions: [SessionIdent: Session] = [:]
    private(set) var isEnded = false
    private(set) var isConnectionRefused = false
    private var pongs = 0
    private var frames = ServerFrames()
    private var status: Int?
    private var hasClosed = false
    private var waiters: [Int: Waiter] = [:]
    private var lastWaiter = 0
    private var lastSession: SessionIdent = 0

    private init(_ tcp: TCPSocket, _ tally: Tally, _ mode: SyncMode, follows: Bool) {
        self.tcp = tcp
        encoder = MessageEncoder(mode: mode)
        parser = ServerMessageParser(mode: mode)
        self.tally = tally
        let (stream, continuation) = AsyncStream.makeStream(of: (ServerMessage, ContinuousClock.Instant).self)
        messages = stream
        follower = follows ? continuation : nil
        if !follows { continuation.finish() }
    }

    /// Connects and opens the WebSocket.
    ///
    /// - Parameters:
    ///   - follows: whether somebody takes `messages`.
    ///   - receiveBuffer: bytes that the kernel takes for a client that does not read.
    static func open(
        _ account: Account, port: Int, _ tally: Tally, mode: SyncMode = .partition, follows: Bool = false,
        receiveBuffer: Int? = nil
    ) async throws -> Line {
        let tcp = try await TCPSocket.connect(port: port, from: account.source, receiveBuffer: receiveBuffer)
        let line = Line(tcp, tally, mode, follows: follows)
        try await line.start(account.upgrade(mode))
        return line
    }

    private func start(_ request: String) async throws {
        // Lives as long as the connection, whoever has opened it.
        Task { [weak self, received = tcp.received] in
            for await bytes in received { await self?.receive(bytes, at: .now) }
            await self?.end()
        }
        tally.sent(request.utf8.count)
        try await tcp.write(Array(request.utf8))
        guard await wait({ $0.status != nil }), status == 101 else {
            tally.refused(status.map { "HTTP \($0)" } ?? "no answer")
            await tcp.close()
            throw Refused("the upgrade was answered with \(status.map(String.init) ?? "nothing")")
        }
    }

    func close() async { await tcp.close() }

    /// Stops to take what comes.
    func stopReading() async throws { try await tcp.setReading(false) }

    // MARK: To the server

    func send(_ message: ClientMessage) async throws { try await send(encoder.encode(message)) }

    /// Bytes of one message, good or not.
    func send(_ message: [UInt8]) async throws { try await sendRaw(ClientFrame.bytes(message, mask: [0, 0, 0, 0])) }

    /// Bytes that need not be a frame.
    func sendRaw(_ bytes: [UInt8]) async throws {
        tally.sent(bytes.count)
        try await tcp.write(bytes)
    }

    /// The next number for a session that was not bound yet.
    func nextSession() -> SessionIdent {
        lastSession = SessionIdent(rawValue: lastSession.rawValue + 1)
        return lastSession
    }

    /// Keeps what comes for a session that its client binds by itself.
    func expect(_ number: SessionIdent) { sessions[number] = Session() }

    /// Binds a session, identifies itself as `known` or as a new client realm, and waits for the first DOWNLOAD.
    func open(_ partition: String, as known: Session? = nil) async throws -> SessionIdent {
        try await open(target: PartitionValue.string(partition).path, query: nil, as: known)
    }

    /// Binds the flexible realm with no subscriptions, as a new client realm, and waits for the first DOWNLOAD.
    func openFlexible() async throws -> SessionIdent {
        try await open(target: FlexibleTarget().text, query: QuerySet(version: 0, queries: [:]), as: nil)
    }

    private func open(target: String, query: QuerySet?, as known: Session?) async throws -> SessionIdent {
        let number = nextSession()
        sessions[number] = known ?? Session()
        sessions[number]?.error = nil
        sessions[number]?.downloads = 0
        try await send(.bind(Bind(session: number, target: target, needsIdent: known?.file == nil)))
        if known?.file == nil {
            guard await wait({ $0.sessions[number]?.file != nil || $0.isOver(number) }) else {
                throw refusal(of: number, "no ident")
            }
        }
        guard let session = sessions[number], let file = session.file else { throw refusal(of: number, "no ident") }
        try await send(
            .ident(
                Ident(
                    session: number, file: file, download: session.progress.download, latest: session.progress.latest,
                    query: query)))
        guard await wait({ ($0.sessions[number]?.downloads ?? 0) > 0 || $0.isOver(number) }), !isOver(number) else {
            throw refusal(of: number, "no download")
        }
        tally.accepted()
        return number
    }

    /// Asks for a subscription set and waits until its data have come; false if the set was refused, or the session has ended.
    ///
    /// - Parameter queries: a query for each class, in the query language.
    func subscribe(
        _ queries: [String: String], _ number: SessionIdent, within limit: Duration = .seconds(60)
    ) async throws -> Bool {
        guard var session = sessions[number] else { throw Refused("no such session") }
        let set = QueryVersion(rawValue: session.set.rawValue + 1)
        session.set = set
        session.lastMark = RequestIdent(rawValue: session.lastMark.rawValue + 1)
        sessions[number] = session
        try await send(.query(Query(session: number, query: QuerySet(version: set, queries: queries))))
        let mark = session.lastMark
        try await send(.mark(session: number, request: mark))
        let isAnswered = await wait(for: limit) {
            guard let session = $0.sessions[number] else { return true }
            return session.mark >= mark || session.refusedSet >= set || $0.isOver(number)
        }
        guard isAnswered else {
            tally.refused("no answer")
            return false
        }
        guard let session = sessions[number], session.refusedSet < set, !isOver(number) else { return false }
        tally.accepted()
        return true
    }

    /// Sends changesets as one UPLOAD on top of what the session has seen.
    ///
    /// - Parameter seen: the server version that the changesets know; the newest that has come if nil.
    func upload(_ changesets: [[UInt8]], _ number: SessionIdent, seen: ServerVersion? = nil) async throws {
        guard var session = sessions[number] else { throw Refused("no such session") }
        let seen = seen ?? session.progress.download.serverVersion
        var entries: [UploadedChangeset] = []
        entries.reserveCapacity(changesets.count)
        for changeset in changesets {
            session.version = session.version + 1
            entries.append(
                UploadedChangeset(
                    clientVersion: session.version, serverVersion: seen,
                    timestamp: SyncTimestamp(rawValue: Writes.epoch + session.version.rawValue),
                    changeset: changeset))
        }
        sessions[number] = session
        try await send(
            .upload(
                Upload(
                    session: number, progress: UploadCursor(clientVersion: session.version, serverVersion: seen),
                    lockedServerVersion: seen, entries: entries)))
    }

    /// Waits until all uploads of a session are acknowledged; false if it ended in an error, or nothing came in time.
    func acknowledged(_ number: SessionIdent, within limit: Duration = .seconds(30)) async -> Bool {
        let isSo = await wait(for: limit) {
            guard let session = $0.sessions[number] else { return true }
            return session.progress.upload.clientVersion >= session.version || $0.isOver(number)
        }
        guard isSo else {
            tally.refused("no answer")
            return false
        }
        if !isOver(number) { tally.accepted() }
        return !isOver(number)
    }

    /// Takes back the number of a client version that a message of the caller's own has used.
    func setVersion(_ version: ClientVersion, _ number: SessionIdent) { sessions[number]?.version = version }

    /// Whether a session, or the connection, has ended.
    func isOver(_ number: SessionIdent) -> Bool {
        isEnded || hasClosed || isConnectionRefused || sessions[number]?.error != nil
    }

    private func refusal(of number: SessionIdent, _ otherwise: String) -> Refused {
        if !isOver(number) { tally.refused("no answer") }
        return Refused(
            sessions[number]?.error.map { "error \($0)" } ?? (isEnded ? "the connection ended" : otherwise))
    }

    // MARK: From the server

    /// Waits until something is so; false when time is up or the connection has ended.
    func wait(for limit: Duration = .seconds(20), _ isSo: @escaping @Sendable (isolated Line) -> Bool) async -> Bool {
        if isSo(self) { return true }
        guard !isEnded else { return false }
        lastWaiter += 1
        let number = lastWaiter
        let timer = Task {
            try await Task.sleep(for: limit)
            resume(number, with: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiters[number] = Waiter(isSo: isSo, continuation: $0) }
    }

    private func resume(_ number: Int, with result: Bool) {
        waiters.removeValue(forKey: number)?.continuation.resume(returning: result)
    }

    private func settle() {
        for (number, waiter) in waiters {
            if waiter.isSo(self) { resume(number, with: true) } else if isEnded { resume(number, with: false) }
        }
    }

    private func end() {
        if !isEnded, !hasClosed, !isConnectionRefused, status != nil { tally.refused("ended") }
        isEnded = true
        follower?.finish()
        settle()
    }

    private func receive(_ bytes: [UInt8], at moment: ContinuousClock.Instant) {
        tally.received(bytes.count)
        frames.append(bytes)
        if status == nil {
            status = frames.takeAnswer()?.status
            if status != nil { settle() }
        }
        guard status == 101 else { return }
        while let event = frames.next() {
            switch event {
            case .message(let message): take(message, at: moment)
            case .close(let code, _):
                hasClosed = true
                tally.refused("close \(code)")
            case .end: break
            }
            settle()
        }
    }

    private func take(_ bytes: [UInt8], at moment: ContinuousClock.Instant) {
        guard let message = try? parser.parse(bytes) else {
            tally.refused("unreadable")
            return
        }
        switch message {
        case .ident(let number, let file): sessions[number]?.file = file
        case .download(let download):
            sessions[download.session]?.progress = download.progress
            sessions[download.session]?.downloads += 1
        case .mark(let number, let request): sessions[number]?.mark = request
        case .unbound(let number): sessions[number]?.isUnbound = true
        case .pong: pongs += 1
        case .jsonError(let number, let code, _):
            tally.refused("\(code.rawValue)")
            // A write that was undone ends nothing.
            if code == .compensatingWrite { break }
            if number.isConnection { isConnectionRefused = true } else { sessions[number]?.error = code.rawValue }
        case .queryError(let error):
            tally.refused("QUERY_ERROR \(error.code.rawValue)")
            sessions[error.session]?.refusedSet = error.queryVersion
        case .error, .logMessage, .testCommand: break
        }
        follower?.yield((message, moment))
    }
}
