import Foundation
import SyncModel
import SyncProtocol
import WireClient

/// A connection of a stock client: everything that comes passes the strictest model of what such a client accepts.
@MainActor
final class StockConnection {
    struct ReceivedError {
        var code: Int
        var body: JSONErrorBody
        /// The body as it came.
        var json: [String: Any]
    }

    /// What one bind has brought so far.
    struct Session {
        var file: StockFile
        var isBoundWithIdent = false
        var downloads: [Download] = []
        var marks: [RequestIdent] = []
        var isUnbound = false
        var error: ReceivedError?
        /// What was undone of the session's writes, and the sets that were refused.
        var compensations: [ReceivedError] = []
        var queryErrors: [QueryError] = []
        var entryCount: Int { downloads.reduce(0) { $0 + $1.entries.count } }
    }

    let socket: StockSocket
    private(set) var checker: ClientConnectionChecker
    private(set) var sessions: [SessionIdent: Session] = [:]
    private(set) var pongs: [UInt64] = []
    private(set) var connectionError: ReceivedError?
    private(set) var closeCode: UInt16?
    private(set) var isEnded = false
    let mode: SyncMode
    private let parser: ServerMessageParser
    private let encoder: MessageEncoder
    private var lastMark: RequestIdent = 0
    private var lastSession: SessionIdent = 0

    init(_ socket: StockSocket, mode: SyncMode = .partition) {
        self.socket = socket
        self.mode = mode
        checker = ClientConnectionChecker(mode: mode)
        parser = ServerMessageParser(mode: mode)
        encoder = MessageEncoder(mode: mode)
    }

    func close() async { await socket.close() }

    // MARK: To the server

    /// Sends a message, as it was recorded if that says the same.
    func send(_ message: ClientMessage, as recorded: [UInt8]? = nil, file: StockFile? = nil) async throws {
        try await pump()
        if case .bind(let bind) = message, let file {
            sessions[bind.session] = Session(file: file)
            lastSession = max(lastSession, bind.session)
        }
        // Written before the error was read: it is on the wire all the same.
        let isLate = message.session.flatMap { checker.sessions[$0]?.state } == .errorReceived
        switch message {
        case .ident(let ident):
            guard let session = sessions[ident.session] else { throw StockClientError("IDENT of no session") }
            try checker.sendIdent(
                ident, upload: session.file.progress.upload,
                newestClientVersion: session.file.newestClientVersion)
        case .mark(let session, let request):
            lastMark = max(lastMark, request)
            if !isLate { try checker.send(.mark(session: session, request: request)) }
        case .upload(let upload):
            if let file = sessions[upload.session]?.file {
                file.newestClientVersion = max(file.newestClientVersion, upload.progress.clientVersion)
                checker.setNewestClientVersion(file.newestClientVersion, for: upload.session)
            }
            if !isLate { try checker.send(message) }
        default: try checker.send(message)
        }
        let parsed = try recorded.map { try ClientMessageParser(mode: mode).parse($0) }
        try await socket.send(parsed == message ? recorded ?? [] : encoder.encode(message))
    }

    /// The file of a session that was bound with an ident.
    func adopt(_ file: StockFile, session: SessionIdent) { sessions[session]?.file = file }

    /// Binds a session of its own for a file, waits for an ident if the file has none, and identifies itself.
    func open(
        _ path: String, _ file: StockFile, session: SessionIdent? = nil, query: QuerySet? = nil
    ) async throws -> SessionIdent {
        let session = session ?? SessionIdent(lastSession.rawValue + 1)
        try await send(
            .bind(Bind(session: session, target: path, needsIdent: file.identity == nil)), file: file)
        try await wait("session \(session) has an ident") { _ in file.identity != nil }
        guard let identity = file.identity else { throw StockClientError("no ident") }
        try await send(
            .ident(
                Ident(
                    session: session, file: identity, download: file.progress.download, latest: file.progress.latest,
                    query: query)))
        return session
    }

    /// Asks to be told when everything has come, and returns when it has.
    func download(_ session: SessionIdent) async throws {
        let request = RequestIdent(lastMark.rawValue + 1)
        try await send(.mark(session: session, request: request))
        try await wait("MARK \(request) is answered") { $0.sessions[session]?.marks.contains { $0 >= request } == true }
        let last = sessions[session]?.downloads.last
        guard let last, last.progress.download.serverVersion == last.progress.latest.version else {
            throw StockClientError("MARK \(request) came before everything had: \(String(describing: last?.progress))")
        }
    }

    /// Uploads one changeset and returns when it is acknowledged.
    func upload(_ changeset: [UInt8], _ session: SessionIdent) async throws {
        guard let file = sessions[session]?.file else { throw StockClientError("no such session") }
        let version = ClientVersion(max(file.newestClientVersion.rawValue, 1) + 1)
        try await send(
            .upload(changeset, version: version, session: session, file: file))
        try await wait("version \(version) is acknowledged") { _ in file.progress.upload.clientVersion >= version }
    }

    // MARK: From the server

    /// Waits until something is so; what breaks the rules meanwhile, or ends the connection, is thrown.
    func wait(
        _ what: String, limit: Duration = .seconds(60), mayEnd: Bool = false,
        until isSo: (StockConnection) throws -> Bool
    ) async throws {
        do {
            _ = try await StockClientError.within(what, limit: limit) {
                try await pump()
                if try isSo(self) { return true }
                guard mayEnd || !isEnded else { throw StockClientError("the connection ended") }
                return nil
            }
        } catch let error as StockClientError {
            throw StockClientError("\(error); \(what); the connection: \(summary)")
        }
    }

    /// Takes in what has come.
    func pump() async throws {
        for event in await socket.takeEvents() {
            switch event {
            case .message(let bytes): try receive(bytes)
            case .close(let code, let reason):
                guard code != 0 else { throw StockClientError(reason) }
                closeCode = code
            case .end: isEnded = true
            }
        }
    }

    private func receive(_ bytes: [UInt8]) throws {
        let message = try parser.parse(bytes)
        do {
            try checker.receive(message)
        } catch {
            throw StockClientError("a stock client closes the connection: \(error) at \(message)")
        }
        switch message {
        case .ident(let session, let file):
            sessions[session]?.file.identity = file
            sessions[session]?.isBoundWithIdent = true
        case .download(let download):
            sessions[download.session]?.downloads.append(download)
            try sessions[download.session]?.file.receive(download)
        case .mark(let session, let request): sessions[session]?.marks.append(request)
        case .unbound(let session): sessions[session]?.isUnbound = true
        case .pong(let timestamp): pongs.append(timestamp)
        case .jsonError(let session, let code, let body):
            let text = bytes.drop { $0 != 0x0A }.dropFirst()
            let json = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any] ?? [:]
            let error = ReceivedError(code: code.rawValue, body: body, json: json)
            if session.isConnection {
                connectionError = error
            } else if code == .compensatingWrite {
                sessions[session]?.compensations.append(error)
            } else {
                sessions[session]?.error = error
            }
        case .error: throw StockClientError("a plain ERROR carries no action")
        case .queryError(let error): sessions[error.session]?.queryErrors.append(error)
        case .testCommand: throw StockClientError("\(message.name) was not asked for")
        case .logMessage: break
        }
    }

    private var summary: String {
        let sessions = sessions.sorted { $0.key < $1.key }.map { ident, session in
            "session \(ident): file \(session.file.identity.map { "\($0.ident)" } ?? "-"), "
                + "\(session.downloads.count) downloads with \(session.entryCount) entries, \(session.file.progress), "
                + "marks \(session.marks), error \(session.error.map { "\($0.code) \($0.body.message)" } ?? "-")"
        }
        return sessions.joined(separator: "\n")
            + (connectionError.map { "\nerror \($0.code) \($0.body.message)" } ?? "")
            + (closeCode.map { "\nclosed with \($0)" } ?? "")
    }
}

extension ClientMessage {
    /// An UPLOAD of one changeset, made now.
    @MainActor
    static func upload(
        _ changeset: [UInt8], version: ClientVersion, session: SessionIdent, file: StockFile
    ) -> ClientMessage {
        let seen = file.progress.download.serverVersion
        let now = UInt64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000
        return .upload(
            Upload(
                session: session, progress: UploadCursor(clientVersion: version, serverVersion: seen),
                lockedServerVersion: seen,
                entries: [
                    UploadedChangeset(
                        clientVersion: version, serverVersion: seen, timestamp: SyncTimestamp(now),
                        changeset: changeset)
                ]))
    }
}
