import Changesets
import Foundation
import Query
import RealmState
import SyncModel
import SyncProtocol
import SyncServerSupport
import Testing

@testable import DeviceSync

/// A small server of an app in flexible mode on a real socket: one realm in memory, of which each client has what its subscription
/// set selects. Tests keep it from what only a real merge can do: nobody uploads what was written before a change of the same object.
final class FlexibleServer: @unchecked Sendable, DeviceServer {
    // Unchecked: everything mutable is behind `lock`.
    typealias Entry = SyncModel.HistoryEntry

    struct File {
        var salt: UInt64
        var upload = UploadCursor()
        var isReset = false
        var schemaVersion: UInt64 = 0
        /// What it had when it stood at a version.
        var views: [UInt64: [ObjectAddress: StoredObject]] = [0: [:]]
    }
    struct Session {
        var file: UInt64 = 0
        var cursor: UInt64 = 0
        var set = QuerySet(version: 0, text: "{}")
        var hasFailed = false
        var schemaVersion: UInt64 = 0
    }
    final class Connection {
        let socket: SyncSocket
        var sessions: [SessionIdent: Session] = [:]
        init(_ socket: SyncSocket) { self.socket = socket }
    }
    /// How the data of a set is sent.
    enum Sending {
        case whole
        /// An object a message.
        case inBatches
        /// The same without the last message.
        case withoutTheLast
        /// Not at all.
        case never
    }

    private let lock = NSLock()
    private var server: SyncSocketServer?
    private var connections: [Connection] = []
    private var state = RealmState(compatibility: .stockClients, indexingIncomingLinks: true)
    private var version: UInt64 = 0
    private var files: [UInt64: File] = [:]
    private var salt: UInt64 = 77
    private var received: [ClientMessage] = []
    private var outcomeBodies: [String] = []
    private var how = Sending.whole
    private var refusal: String?
    private var holdsBack231 = false
    private var hidden: Set<String> = []
    private var resetAction = ErrorAction.clientReset

    var baseURL: String { "http://127.0.0.1:\(server?.port ?? 1)" }
    var messages: [ClientMessage] { lock.withLock { received } }
    var hasSessions: Bool { lock.withLock { connections.contains { !$0.sessions.isEmpty } } }
    var outcomes: [String] { lock.withLock { outcomeBodies } }
    func addOutcome(_ body: String) { lock.withLock { outcomeBodies.append(body) } }
    func forgetMessages() { lock.withLock { received = [] } }
    var sending: Sending {
        get { lock.withLock { how } }
        set { lock.withLock { how = newValue } }
    }
    /// Why it refuses every set.
    var refuses: String? {
        get { lock.withLock { refusal } }
        set { lock.withLock { refusal = newValue } }
    }
    /// The tasks that no role lets anybody read.
    var hides: Set<String> {
        get { lock.withLock { hidden } }
        set { lock.withLock { hidden = newValue } }
    }
    /// Compensating writes are announced, and what undoes the writes is not sent.
    var withholdsUndoing: Bool {
        get { lock.withLock { holdsBack231 } }
        set {
            lock.withLock {
                holdsBack231 = newValue
                if !newValue { broadcast() }
            }
        }
    }
    var keys: Set<String> {
        lock.withLock {
            Set(state.objects(of: "Task").map { if case .string(let key) = $0.key { key.string } else { "?" } })
        }
    }
    var queries: [QuerySet] {
        messages.compactMap { if case .query(let query) = $0 { query.query } else { nil } }
    }

    func start() async throws {
        var events = SyncSocketServer.Events { message, socket in self.receive(message, socket) }
        events.opened = { socket in self.lock.withLock { self.connections.append(Connection(socket)) } }
        events.closed = { socket in self.lock.withLock { self.connections.removeAll { $0.socket === socket } } }
        events.failed = { Issue.record("\($0)") }
        server = try await SyncSocketServer(events, mode: .flexible)
    }

    func dropConnections() { for connection in lock.withLock({ connections }) { connection.socket.close() } }

    /// A write by somebody else.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) throws {
        try lock.withLock {
            _ = try state.record(body)
            _ = state.takeChanges()
            version += 1
            broadcast()
        }
    }

    /// Somebody else's object of class Task.
    func create(_ key: String, title: String, count: Int = 0) throws {
        try edit { transaction in
            let address = ObjectAddress("Task", .string(ByteString(key)))
            try transaction.createObject(address)
            try transaction.set(FieldAddress(address, "title"), to: .string(ByteString(title)))
            try transaction.set(FieldAddress(address, "count"), to: .int(Int64(count)))
        }
    }

    func set(_ key: String, title: String) throws {
        try edit {
            try $0.set(
                FieldAddress(ObjectAddress("Task", .string(ByteString(key))), "title"), to: .string(ByteString(title)))
        }
    }

    /// Every client file must reset.
    func terminate(action: ErrorAction = .clientReset) {
        lock.withLock {
            resetAction = action
            for ident in files.keys { files[ident]?.isReset = true }
            salt += 1
            for connection in connections {
                for ident in connection.sessions.keys {
                    connection.sessions[ident]?.hasFailed = true
                    connection.socket.send(resetError(ident))
                }
            }
        }
    }

    /// The role of every client has changed: each gets the data of its set once more.
    func sendSetsAgain() {
        lock.withLock {
            for connection in connections {
                for (ident, session) in connection.sessions {
                    bootstrap(session.set, ident, connection)
                }
            }
        }
    }

    private func resetError(_ session: SessionIdent) -> ServerMessage {
        .jsonError(
            session: session, code: .badClientFileIdent,
            body: JSONErrorBody(message: "sync was terminated", action: resetAction, tryAgain: false))
    }

    // MARK: Messages

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
            let version = (try? bind.flexible())?.schemaVersion ?? 0
            connection.sessions[bind.session] = Session(schemaVersion: version)
            guard bind.needsIdent else { return }
            let ident = UInt64(files.count + 2)
            files[ident] = File(salt: ident * 1000 + 7, schemaVersion: version)
            connection.socket.send(
                .ident(
                    session: bind.session,
                    file: ClientFileIdent(ident: FileIdent(ident), salt: FileSalt(ident * 1000 + 7))))
        case .ident(let ident):
            let number = ident.file.ident.rawValue
            guard let file = files[number], !file.isReset else {
                connection.sessions[ident.session]?.hasFailed = true
                return connection.socket.send(resetError(ident.session))
            }
            let set = ident.query ?? QuerySet(version: 0, text: "{}")
            let cursor = ident.download.serverVersion.rawValue
            let version = connection.sessions[ident.session]?.schemaVersion ?? 0
            connection.sessions[ident.session] = Session(file: number, cursor: cursor, set: set, schemaVersion: version)
            if version != file.schemaVersion {
                var body = JSONErrorBody(code: .schemaVersionChanged, message: "schema changed")
                body.previousSchemaVersion = file.schemaVersion
                connection.socket.send(
                    .jsonError(session: ident.session, code: .schemaVersionChanged, body: body))
            }
            // A reset brings the cursor of its fresh copy along.
            files[number]?.views = [cursor: file.views[cursor] ?? [:]]
            if cursor == 0 { bootstrap(set, ident.session, connection) } else { download(ident.session, connection) }
        case .upload(let upload): take(upload, connection)
        case .query(let query):
            if let refusal {
                return connection.socket.send(
                    .queryError(
                        QueryErrorMessage(session: query.session, queryVersion: query.query.version, message: refusal)))
            }
            bootstrap(query.query, query.session, connection)
        case .mark(let session, let request): connection.socket.send(.mark(session: session, request: request))
        case .unbind(let session):
            connection.sessions[session] = nil
            connection.socket.send(.unbound(session: session))
        case .ping(let timestamp, _): connection.socket.send(.pong(timestamp: timestamp))
        case .jsonError(let error): Issue.record("the client refuses a download: \(error.message)")
        case .testCommand: break
        }
    }

    private func take(_ upload: Upload, _ connection: Connection) {
        guard let session = connection.sessions[upload.session] else { return }
        let new = upload.entries.filter { $0.clientVersion > files[session.file]?.upload.clientVersion ?? 0 }
        var undone: [ObjectAddress] = []
        do {
            for entry in new {
                let changeset = try Changeset(parsing: entry.changeset)
                var trial = state
                try trial.apply(changeset)
                let touched = changeset.touchedAddresses
                let view = try view(session.set, of: trial)
                let refused = touched.filter { !state.contains($0) && view[$0] == nil }
                undone += refused
                guard refused.isEmpty else { continue }
                _ = trial.takeChanges()
                state = trial
                for address in touched { files[session.file]?.views[session.cursor]?[address] = view[address] }
            }
        } catch {
            Issue.record("an upload cannot be integrated: \(error)")
        }
        if upload.progress.clientVersion > files[session.file]?.upload.clientVersion ?? 0 {
            files[session.file]?.upload = upload.progress
        }
        guard !new.isEmpty else { return }
        version += 1
        if !undone.isEmpty { announce(undone, upload, connection) }
        broadcast()
    }

    private func announce(_ undone: [ObjectAddress], _ upload: Upload, _ connection: Connection) {
        guard let session = connection.sessions[upload.session] else { return }
        var body = JSONErrorBody(
            code: .compensatingWrite, message: "a write was undone", action: .warning, tryAgain: true)
        body.rejectedClientVersion = upload.progress.clientVersion
        body.compensatingWriteServerVersion = ServerVersion(version)
        body.rejectedUpdates = undone.map { address in
            guard case .string(let key) = address.key else {
                return RejectedUpdate(table: "", primaryKey: .null, reason: "")
            }
            // To the client it is an object that has left the view.
            files[session.file]?.views[session.cursor]?[address] = StoredObject()
            return RejectedUpdate(table: "Task", primaryKey: .string(key.string), reason: "outside of the view")
        }
        connection.socket.send(.jsonError(session: upload.session, code: .compensatingWrite, body: body))
    }

    // MARK: Views

    private func view(_ set: QuerySet, of state: RealmState) throws -> [ObjectAddress: StoredObject] {
        var view: [ObjectAddress: StoredObject] = [:]
        for (name, text) in try set.queries() {
            let query = try ObjectQuery(ByteString(text), on: ByteString(name), schema: QuerySchema(state.schema))
            for (key, object) in state.objects(of: query.className) where query.matches(object, key: key) {
                if case .string(let key) = key, hidden.contains(key.string) { continue }
                view[ObjectAddress(query.className, key)] = object
            }
        }
        return view
    }

    /// What turns one view into another: erased objects, and new or changed ones as a whole.
    private func difference(
        from old: [ObjectAddress: StoredObject], to new: [ObjectAddress: StoredObject]
    ) -> [[UInt8]] {
        var changesets: [Changeset] = []
        for address in old.keys.sorted() where old[address] != new[address] {
            var changeset = Changeset()
            let table = changeset.strings.intern(address.className)
            changeset.instructions.append(.eraseObject(table: table, object: changeset.strings.intern(address.key)))
            changesets.append(changeset)
        }
        for address in new.keys.sorted() where old[address] != new[address] {
            var builder = StateChangesets(schema: state.schema)
            if let object = new[address] { changesets += builder.append(address, object) }
            if let last = builder.finish() { changesets.append(last) }
        }
        return changesets.map { $0.encoded() }
    }

    private func bootstrap(_ set: QuerySet, _ ident: SessionIdent, _ connection: Connection) {
        guard let session = connection.sessions[ident], let file = files[session.file],
            how != .never || set.version == 0
        else { return }
        if version == 0 { version = 1 }
        let old = file.views[session.cursor] ?? [:]
        let new: [ObjectAddress: StoredObject]
        do {
            new = try view(set, of: state)
        } catch {
            return connection.socket.send(
                .queryError(QueryErrorMessage(session: ident, queryVersion: set.version, message: "\(error)")))
        }
        var changesets = difference(from: old, to: new)
        if set.version == 0 {
            changesets = [StateChangesets(schema: state.schema).schemaChangeset().encoded()]
        }
        if changesets.isEmpty { changesets = [[]] }
        let isWhole = how == .whole || set.version == 0
        let messages = isWhole ? [changesets] : changesets.map { [$0] }
        for (index, message) in messages.enumerated() {
            let isLast = index == messages.count - 1
            if isLast, !isWhole, how == .withoutTheLast { return }
            send(
                message, ident, connection,
                FlexibleBatch(
                    queryVersion: set.version, state: isLast ? .lastInBatch : .moreToCome,
                    progress: isLast ? 1 : Double(index + 1) / Double(messages.count + 1)))
        }
        connection.sessions[ident]?.set = set
        moved(ident, new, connection)
    }

    private func broadcast() {
        for connection in connections {
            for (ident, session) in connection.sessions where session.file > 0 && !session.hasFailed {
                download(ident, connection)
            }
        }
    }

    private func download(_ ident: SessionIdent, _ connection: Connection) {
        guard !holdsBack231, let session = connection.sessions[ident], let file = files[session.file] else { return }
        let new = (try? view(session.set, of: state)) ?? [:]
        send(
            difference(from: file.views[session.cursor] ?? [:], to: new), ident, connection,
            FlexibleBatch(queryVersion: session.set.version, state: .steadyState, progress: 1))
        moved(ident, new, connection)
    }

    private func moved(_ ident: SessionIdent, _ view: [ObjectAddress: StoredObject], _ connection: Connection) {
        guard let file = connection.sessions[ident]?.file else { return }
        connection.sessions[ident]?.cursor = version
        files[file]?.views[version] = view
    }

    private func send(
        _ changesets: [[UInt8]], _ ident: SessionIdent, _ connection: Connection, _ batch: FlexibleBatch
    ) {
        guard let session = connection.sessions[ident], let file = files[session.file] else { return }
        let client = file.upload.clientVersion
        let entries = changesets.map {
            Entry(
                serverVersion: ServerVersion(version), clientVersion: client, originFile: 1, timestamp: 1, changeset: $0
            )
        }
        connection.socket.send(
            .download(
                Download(
                    session: ident,
                    progress: SyncProgress(
                        download: DownloadCursor(serverVersion: ServerVersion(version), clientVersion: client),
                        latest: SaltedServerVersion(version: ServerVersion(version), salt: VersionSalt(salt)),
                        upload: file.upload),
                    detail: .flexible(batch), entries: entries)))
    }
}

private typealias QueryErrorMessage = SyncProtocol.QueryError
