import Changesets
import Foundation
import Merge
import RealmState
import SyncModel
import SyncProtocol
import SyncServerSupport
import Testing

@testable import DeviceSync

/// A small sync server on a real socket: one realm in memory, merged as the workers do, with terminations.
final class TestServer: @unchecked Sendable {
    // Unchecked: everything mutable is behind `lock`.
    struct Entry {
        var version: UInt64
        var file: UInt64
        var clientVersion: UInt64
        var timestamp: UInt64
        var changeset: [UInt8]
    }
    struct File {
        var salt: UInt64
        var upload = UploadCursor()
        var isReset = false
        /// Others' entries as this file's uploads have left them, by version.
        var reciprocals: [UInt64: Changeset] = [:]
    }
    final class Connection {
        let socket: SyncSocket
        var sessions: [SessionIdent: Session] = [:]
        init(_ socket: SyncSocket) { self.socket = socket }
        func send(_ message: ServerMessage) { socket.send(message) }
    }
    struct Session {
        var file: UInt64?
        var cursor: UInt64 = 0
        var hasFailed = false
    }

    private let lock = NSLock()
    private var server: SyncSocketServer?
    private var connections: [Connection] = []
    private let compatibility: PeerCompatibility?
    private(set) var state: RealmState
    private var history: [Entry] = []
    private var files: [UInt64: File] = [:]
    private var nextFile: UInt64
    private var salt: UInt64 = 77
    private var received: [ClientMessage] = []
    private var outcomeBodies: [String] = []
    private var resetAction = ErrorAction.clientReset
    private var isHoldingMarks = false
    private var heldMarks: [(Connection, SessionIdent, RequestIdent)] = []
    private var isHoldingPages = false
    private var isHoldingUnbound = false
    private var isSilent = false
    private var isRefusing = false
    private var isWithholding = false
    private var isTellingIntegrated = false
    private var isAcknowledgingLate = false
    private var uploadLimit = Int.max
    /// Bytes of changesets in one UPLOAD beyond which the connection is closed (1009).
    var maxUploadBytes: Int {
        get { lock.withLock { uploadLimit } }
        set { lock.withLock { uploadLimit = newValue } }
    }
    /// What was withheld from a session is on its way when its UNBIND comes.
    var acknowledgesLate: Bool {
        get { lock.withLock { isAcknowledgingLate } }
        set { lock.withLock { isAcknowledgingLate = newValue } }
    }
    /// Uploads are integrated, and nobody hears of it.
    var withholdsDownloads: Bool {
        get { lock.withLock { isWithholding } }
        set { lock.withLock { isWithholding = newValue } }
    }
    /// Whether a reset says how far the client file's uploads were integrated.
    var tellsIntegrated: Bool {
        get { lock.withLock { isTellingIntegrated } }
        set { lock.withLock { isTellingIntegrated = newValue } }
    }
    /// New connections end before they are answered.
    var refusesConnections: Bool {
        get { lock.withLock { isRefusing } }
        set { lock.withLock { isRefusing = newValue } }
    }
    /// Whether it keeps to itself by which rules its copy is made, as one that is not Sluice.
    var keepsRulesToItself: Bool {
        get { lock.withLock { isSilent } }
        set { lock.withLock { isSilent = newValue } }
    }
    /// Answers to MARK come only after this is set back.
    var holdsMarks: Bool {
        get { lock.withLock { isHoldingMarks } }
        set {
            let due = lock.withLock { () -> [(Connection, SessionIdent, RequestIdent)] in
                isHoldingMarks = newValue
                defer { if !newValue { heldMarks = [] } }
                return newValue ? [] : heldMarks
            }
            for (connection, session, request) in due { connection.send(.mark(session: session, request: request)) }
        }
    }
    /// UNBIND is not answered.
    var holdsUnbound: Bool {
        get { lock.withLock { isHoldingUnbound } }
        set { lock.withLock { isHoldingUnbound = newValue } }
    }
    /// DOWNLOADs acknowledge uploads and bring nothing, as while a page is under way; what they owe comes once this is set
    /// back.
    var holdsPages: Bool {
        get { lock.withLock { isHoldingPages } }
        set {
            lock.withLock {
                isHoldingPages = newValue
                if !newValue { broadcast() }
            }
        }
    }

    var messages: [ClientMessage] { lock.withLock { received } }
    var outcomes: [String] { lock.withLock { outcomeBodies } }
    var connectionCount: Int { lock.withLock { connections.count } }
    var port: Int { server?.port ?? 0 }
    var baseURL: String { "http://127.0.0.1:\(port)" }
    /// The number of the realm's contents; equal copies have equal ones.
    var digest: StateDigest { lock.withLock { StateDump.digest(of: state) } }
    func reading<Result>(_ body: (borrowing RealmState) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(state) }
    }
    var taskCount: Int { lock.withLock { state.objectCount(of: "Task") } }
    func addOutcome(_ body: String) { lock.withLock { outcomeBodies.append(body) } }
    func forgetMessages() { lock.withLock { received = [] } }

    /// - Parameters:
    ///   - compatibility: nil for a server that knows of no such setting.
    ///   - firstFile: the number of the first client's file; that of a server which is to know no file of another one is far from the other's.
    init(_ compatibility: PeerCompatibility? = nil, firstFile: UInt64 = 2) {
        self.compatibility = compatibility
        nextFile = firstFile
        state = Self.newState(compatibility)
        isSilent = compatibility == nil
    }

    private static func newState(_ compatibility: PeerCompatibility?) -> RealmState {
        RealmState(compatibility: compatibility ?? .stockClients, indexingIncomingLinks: true)
    }

    // MARK: What tests do to it

    func start() async throws {
        var events = SyncSocketServer.Events { message, socket in self.receive(message, socket) }
        events.accepts = { !self.refusesConnections }
        events.opened = { self.opened(Connection($0)) }
        events.closed = { socket in self.lock.withLock { self.connections.removeAll { $0.socket === socket } } }
        events.failed = { Issue.record("\($0)") }
        server = try await SyncSocketServer(events)
    }

    func stop() async throws { try await server?.close() }

    func dropConnections() { for connection in lock.withLock({ connections }) { connection.socket.close() } }

    /// A write by somebody else.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) throws {
        try lock.withLock {
            let (_, bytes) = try state.record(body)
            _ = state.takeChanges()
            append(Entry(version: 0, file: 1, clientVersion: 0, timestamp: now(), changeset: try normalized(bytes)))
            broadcast()
        }
    }

    /// Ends sync and starts it again: new history, every client file must reset.
    func terminate(action: ErrorAction = .clientReset) {
        lock.withLock {
            resetAction = action
            for ident in files.keys { files[ident]?.isReset = true }
            salt += 1
            history = []
            var builder = StateChangesets(schema: state.schema)
            var changesets = [builder.schemaChangeset()]
            for table in state.schema.tables {
                for (key, object) in state.objects(of: table.name) {
                    changesets += builder.append(ObjectAddress(table.name, key), object)
                }
            }
            if let last = builder.finish() { changesets.append(last) }
            for changeset in changesets where !changeset.isEmpty {
                append(Entry(version: 0, file: 1, clientVersion: 0, timestamp: 0, changeset: changeset.encoded()))
            }
            for connection in connections {
                for (ident, session) in connection.sessions where session.file != nil {
                    connection.sessions[ident]?.hasFailed = true
                    connection.send(resetError(ident, session.file.flatMap { files[$0] }))
                }
            }
        }
    }

    /// An error for every live session.
    func sendError(_ code: ErrorCode, _ body: JSONErrorBody) {
        lock.withLock {
            for connection in connections {
                for ident in connection.sessions.keys {
                    if code.entry?.sessionContinues != true { connection.sessions[ident]?.hasFailed = true }
                    connection.send(.jsonError(session: ident, code: code, body: body))
                }
            }
        }
    }

    /// The realm becomes something else behind the clients' backs; follow with `terminate()`.
    func replaceState(_ body: (inout RecordingTransaction) throws -> Void) throws {
        try lock.withLock {
            var fresh = Self.newState(compatibility)
            _ = try fresh.record(body)
            _ = fresh.takeChanges()
            state = fresh
        }
    }

    // MARK: Messages

    private func opened(_ connection: Connection) {
        lock.withLock {
            connections.append(connection)
            if !isSilent {
                connection.send(.logMessage(LogMessage(connectionID: "c", compatibility: compatibility?.rawValue)))
            }
        }
    }

    private func receive(_ message: ClientMessage, _ socket: SyncSocket) {
        lock.withLock {
            guard let connection = connections.first(where: { $0.socket === socket }) else { return }
            // A client's first PING comes at any time within a minute.
            if message.name != "ping" { received.append(message) }
            if let ident = message.session, connection.sessions[ident]?.hasFailed == true {
                if case .unbind = message { connection.sessions[ident] = nil }
                return
            }
            answer(message, connection)
        }
    }

    private func answer(_ message: ClientMessage, _ connection: Connection) {
        switch message {
        case .bind(let bind):
            connection.sessions[bind.session] = Session()
            guard bind.needsIdent else { return }
            let ident = nextFile
            nextFile += 1
            files[ident] = File(salt: ident * 1000 + 7)
            connection.send(
                .ident(
                    session: bind.session,
                    file: ClientFileIdent(ident: FileIdent(ident), salt: FileSalt(ident * 1000 + 7))))
        case .ident(let ident):
            guard let file = files[ident.file.ident.rawValue], !file.isReset else {
                connection.sessions[ident.session]?.hasFailed = true
                return connection.send(resetError(ident.session, files[ident.file.ident.rawValue]))
            }
            connection.sessions[ident.session]?.file = ident.file.ident.rawValue
            connection.sessions[ident.session]?.cursor = ident.download.serverVersion.rawValue
            download(ident.session, connection)
        case .upload(let upload) where upload.entries.reduce(0, { $0 + $1.changeset.count }) > uploadLimit:
            connection.socket.close(.messageTooBig)
            // What the client has sent after it tells of a progress that nobody has made.
            connections.removeAll { $0 === connection }
        case .upload(let upload):
            guard let file = connection.sessions[upload.session]?.file else { return }
            let new = upload.entries.filter { $0.clientVersion > files[file]?.upload.clientVersion ?? 0 }
            do {
                try integrate(new, of: file)
            } catch {
                Issue.record("an upload cannot be merged: \(error)")
            }
            // What a dead client's socket still held may be read after its successor's.
            if upload.progress.clientVersion > files[file]?.upload.clientVersion ?? 0 {
                files[file]?.upload = upload.progress
            }
            if !upload.entries.isEmpty { broadcast() }
        case .mark(let session, let request):
            if isHoldingMarks { return heldMarks.append((connection, session, request)) }
            connection.send(.mark(session: session, request: request))
        case .unbind(let session):
            if isAcknowledgingLate {
                isWithholding = false
                download(session, connection)
            }
            connection.sessions[session] = nil
            heldMarks.removeAll { $0.0 === connection && $0.1 == session }
            if !isHoldingUnbound { connection.send(.unbound(session: session)) }
        case .ping(let timestamp, _): connection.send(.pong(timestamp: timestamp))
        case .query, .jsonError, .testCommand: break
        }
    }

    private func integrate(_ entries: [UploadedChangeset], of file: UInt64) throws {
        guard let base = entries.map(\.serverVersion.rawValue).min() else { return }
        let local = try history.filter { $0.version > base && $0.file != file }.map { entry in
            LocalChangeset(
                version: entry.version, originTimestamp: entry.timestamp, originFileIdent: entry.file,
                changeset: try files[file]?.reciprocals[entry.version] ?? Changeset(parsing: entry.changeset))
        }
        let incoming = try entries.map { entry in
            IncomingChangeset(
                version: entry.clientVersion.rawValue, lastIntegratedLocalVersion: entry.serverVersion.rawValue,
                originTimestamp: entry.timestamp.rawValue, originFileIdent: file,
                changeset: try Changeset(parsing: entry.changeset))
        }
        let merged = try MergeEngine().transform(
            incoming: incoming, over: local, currentLocalVersion: UInt64(history.count))
        for (entry, changeset) in zip(entries, merged.incoming) {
            try state.apply(changeset)
            append(
                Entry(
                    version: 0, file: file, clientVersion: entry.clientVersion.rawValue,
                    timestamp: entry.timestamp.rawValue, changeset: changeset.encoded()))
        }
        for reciprocal in merged.modifiedLocal { files[file]?.reciprocals[reciprocal.version] = reciprocal.changeset }
    }

    private func append(_ entry: Entry) {
        var entry = entry
        entry.version = UInt64(history.count + 1)
        history.append(entry)
    }

    private func broadcast() {
        for connection in connections {
            for (ident, session) in connection.sessions where session.file != nil && !session.hasFailed {
                download(ident, connection)
            }
        }
    }

    private func download(_ ident: SessionIdent, _ connection: Connection) {
        guard !isWithholding, let session = connection.sessions[ident], let own = session.file,
            let file = files[own]
        else { return }
        var newestOwn = history.filter { $0.file == own && $0.version <= session.cursor }.last?.clientVersion ?? 0
        var entries: [SyncModel.HistoryEntry] = []
        let latest = UInt64(history.count)
        let end = isHoldingPages ? session.cursor : latest
        for entry in history where entry.version > session.cursor && entry.version <= end {
            if entry.file == own {
                newestOwn = entry.clientVersion
                continue
            }
            entries.append(
                SyncModel.HistoryEntry(
                    serverVersion: ServerVersion(entry.version), clientVersion: ClientVersion(newestOwn),
                    originFile: FileIdent(entry.file), timestamp: SyncTimestamp(rawValue: entry.timestamp),
                    changeset: entry.changeset))
        }
        connection.sessions[ident]?.cursor = end
        connection.send(
            .download(
                Download(
                    session: ident,
                    progress: SyncProgress(
                        download: DownloadCursor(
                            serverVersion: ServerVersion(end), clientVersion: ClientVersion(newestOwn)),
                        latest: SaltedServerVersion(
                            version: ServerVersion(latest), salt: latest == 0 ? 0 : VersionSalt(salt)),
                        upload: file.upload),
                    detail: .partition(downloadableBytes: 0), entries: entries)))
    }

    private func resetError(_ session: SessionIdent, _ file: File?) -> ServerMessage {
        var body = JSONErrorBody(message: "sync was terminated", action: resetAction, tryAgain: false)
        if isTellingIntegrated { body.integratedClientVersion = file?.upload.clientVersion }
        return .jsonError(session: session, code: .badClientFileIdent, body: body)
    }

    private func normalized(_ bytes: [UInt8]) throws -> [UInt8] { try Changeset(parsing: bytes).encoded() }
    private func now() -> UInt64 {
        SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000)).rawValue
    }
}
