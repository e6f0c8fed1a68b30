import Foundation
import SyncModel
import SyncProtocol

/// Plays the clients' side of a recording against a real server, message by message.
///
/// Only what the server gave is another: idents, salts, versions, cursors. Where the recording shows the server's turn,
/// the player waits until this server has said what the client needs from it: its IDENT, a DOWNLOAD that acknowledges as
/// much and brings the same objects, the answer to its MARK, UNBOUND, PONG, or the same error.
@MainActor
final class RecordingPlayer {
    /// The connections by the recording's numbers; several may share one connection of ours.
    var connections: [Int: StockConnection]
    /// Opens the connections whose upgrade is among the lines.
    var users: [Int: StockUser] = [:]
    /// The connections that end with each client's process, by the client.
    var processes: [String: [Int]] = [:]
    /// The files by the recording's idents.
    var files: [FileIdent: StockFile] = [:]
    /// The session idents that stand in place of the recording's.
    var sessions: [SessionIdent: SessionIdent] = [:]
    /// The path that stands in place of the recording's.
    var path: String?
    /// Uploads are said to have been written so many milliseconds ago, not when they were recorded.
    var uploadAge: UInt64?
    /// Another client may have changed what the recorded objects say meanwhile: their presence is enough.
    var isContested = false
    /// The recorded server merges, and its DOWNLOADs must come entry by entry.
    var isExact = false

    private let recording: Recording
    private let parser = ClientMessageParser(mode: .partition)
    private let serverParser = ServerMessageParser(mode: .partition)
    private var ended: Set<Int> = []
    private var recorded: [FileIdent: RecordedFile] = [:]
    private var recordedIdents: [SessionKey: FileIdent] = [:]

    private struct SessionKey: Hashable {
        var connection: Int
        var session: SessionIdent
    }

    private struct RecordedFile {
        var image = ObjectImage()
        var entries: [HistoryEntry] = []
    }

    init(_ recording: Recording, connections: [Int: StockConnection] = [:]) {
        self.recording = recording
        self.connections = connections
    }

    func play(from start: Int = 0, to end: Int? = nil) async throws {
        for index in start..<(end ?? recording.lines.count) {
            do {
                try await play(recording.lines[index])
            } catch {
                throw StockClientError("\(recording.name), line \(index + 1), \(recording.lines[index].text): \(error)")
            }
        }
    }

    private func play(_ line: Recording.Line) async throws {
        switch line {
        case .message(let message):
            // What the client wrote before it saw the end reached nobody.
            guard !ended.contains(message.connection) else { return }
            if message.isFromClient { try await send(message) } else { try await expect(message) }
        case .upgrade(let connection, _):
            guard let user = users[connection] else { return }
            connections[connection] = try await user.connect()
        case .ended(let connection):
            ended.insert(connection)
            await connections.removeValue(forKey: connection)?.close()
        case .quit(let client):
            for connection in processes[client] ?? [] { await connections.removeValue(forKey: connection)?.close() }
        case .upgraded, .http: break
        }
    }

    private func connection(_ number: Int) throws -> StockConnection {
        guard let connection = connections[number] else { throw StockClientError("no connection \(number)") }
        return connection
    }

    private func ours(_ session: SessionIdent) -> SessionIdent { sessions[session] ?? session }

    // MARK: The client's turn

    private func send(_ recorded: Recording.Message) async throws {
        let connection = try connection(recorded.connection)
        switch try parser.parse(recorded.bytes) {
        case .bind(var bind):
            bind.session = ours(bind.session)
            if let path { bind.target = path }
            try await connection.send(.bind(bind), as: recorded.bytes, file: StockFile())
        case .ident(let ident): try await identify(ident, recorded, on: connection)
        case .upload(let upload): try await self.upload(upload, recorded, on: connection)
        case .mark(let session, let request):
            try await connection.send(.mark(session: ours(session), request: request), as: recorded.bytes)
        case .unbind(let session): try await connection.send(.unbind(session: ours(session)), as: recorded.bytes)
        case .ping(let timestamp, let roundTrip):
            try await connection.send(.ping(timestamp: timestamp, roundTrip: roundTrip), as: recorded.bytes)
        case .query, .jsonError, .testCommand: throw StockClientError("cannot be played")
        }
    }

    private func identify(_ ident: Ident, _ message: Recording.Message, on connection: StockConnection) async throws {
        recordedIdents[SessionKey(connection: message.connection, session: ident.session)] = ident.file.ident
        guard let file = files[ident.file.ident], let identity = file.identity else {
            throw StockClientError("file \(ident.file.ident) has no ident yet")
        }
        // A bind with need 0 has a file from before.
        connection.adopt(file, session: ours(ident.session))
        var mine = Ident(session: ours(ident.session), file: identity)
        if ident.latest.version != 0 {
            mine.latest = file.progress.latest
            mine.download = file.progress.download
            // The merge of a reset adopts the fresh copy's latest version; nothing of its own is integrated.
            if ident.download.clientVersion == 0, ident.download.serverVersion == ident.latest.version {
                mine.download.serverVersion = mine.latest.version
            }
        }
        try await connection.send(.ident(mine), as: message.bytes)
    }

    private func upload(_ upload: Upload, _ message: Recording.Message, on connection: StockConnection) async throws {
        if let ident = recordedIdents[SessionKey(connection: message.connection, session: upload.session)] {
            for entry in upload.entries { try recorded[ident]?.image.forget(entry.changeset) }
        }
        var upload = upload
        upload.session = ours(upload.session)
        guard let file = connection.sessions[upload.session]?.file else { throw StockClientError("no session") }
        try await connection.pump()
        let seen = file.progress.download.serverVersion
        func version(_ recorded: ServerVersion) -> ServerVersion { recorded == 0 ? 0 : seen }
        upload.progress.serverVersion = version(upload.progress.serverVersion)
        upload.lockedServerVersion = version(upload.lockedServerVersion)
        let now = UInt64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000
        for index in upload.entries.indices {
            upload.entries[index].serverVersion = version(upload.entries[index].serverVersion)
            if let uploadAge { upload.entries[index].timestamp = SyncTimestamp(now - uploadAge) }
        }
        try await connection.send(.upload(upload), as: message.bytes)
        // The next client's uploads are integrated after this one's, as they were when it was recorded.
        guard let last = upload.entries.last else { return }
        try await connection.wait("version \(last.clientVersion) is acknowledged") { _ in
            file.progress.upload.clientVersion >= last.clientVersion
        }
    }

    // MARK: The server's turn

    private func expect(_ message: Recording.Message) async throws {
        let connection = try connection(message.connection)
        switch try serverParser.parse(message.bytes) {
        case .ident(let session, let file):
            try await connection.wait("session \(session) gets its ident") {
                $0.sessions[self.ours(session)]?.isBoundWithIdent == true
            }
            files[file.ident] = connection.sessions[ours(session)]?.file
        case .download(let download): try await expect(download, message, on: connection)
        case .mark(let session, let request):
            try await connection.wait("MARK \(request) is answered") {
                $0.sessions[self.ours(session)]?.marks.contains { $0 >= request } == true
            }
            let last = connection.sessions[ours(session)]?.downloads.last
            guard let last, last.progress.download.serverVersion == last.progress.latest.version else {
                throw StockClientError("MARK \(request) came before everything had: \(String(describing: last))")
            }
        case .unbound(let session):
            try await connection.wait("UNBOUND") { $0.sessions[self.ours(session)]?.isUnbound == true }
        case .pong(let timestamp):
            try await connection.wait("PONG") { $0.pongs.contains(timestamp) }
        case .jsonError(let session, _, _): try await expectError(session, message, on: connection)
        case .logMessage: break
        default: throw StockClientError("is not expected from this server")
        }
    }

    private func expect(
        _ download: Download, _ message: Recording.Message, on connection: StockConnection
    ) async throws {
        let key = SessionKey(connection: message.connection, session: download.session)
        guard let ident = recordedIdents[key], let file = files[ident] else { throw StockClientError("no such file") }
        var known = recorded[ident] ?? RecordedFile()
        known.entries += download.entries
        for entry in download.entries { try known.image.apply(entry.changeset) }
        recorded[ident] = known
        try await connection.wait("a DOWNLOAD says as much as the recorded one") {
            guard $0.sessions[self.ours(download.session)]?.downloads.isEmpty == false,
                file.progress.upload.clientVersion >= download.progress.upload.clientVersion,
                file.image.contains(known.image, objectsOnly: self.isContested)
            else { return false }
            return !self.isExact || file.entries.count >= known.entries.count
        }
    }

    private func expectError(
        _ session: SessionIdent, _ message: Recording.Message, on connection: StockConnection
    ) async throws {
        try await connection.wait("the session ends in an error") { $0.sessions[self.ours(session)]?.error != nil }
        guard let error = connection.sessions[ours(session)]?.error else { return }
        var expected = try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any] ?? [:]
        var came = error.json
        guard "\(error.code)" == message.words[1], (came["message"] as? String)?.isEmpty == false else {
            throw StockClientError("the error was \(error.code) \(came)")
        }
        expected["message"] = nil
        came["message"] = nil
        func text(_ object: [String: Any]) throws -> Data {
            try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        }
        guard try text(expected) == text(came) else {
            throw StockClientError("the error's body said \(came), expected \(expected)")
        }
    }

    /// Where exactly the same history came to each file: instructions, times, authors.
    func differences() throws -> [String] {
        var differences: [String] = []
        let authors = Dictionary(
            files.compactMap { recorded, file in file.identity.map { ($0.ident, recorded) } }
        ) { first, _ in first }
        for (ident, known) in recorded.sorted(by: { $0.key < $1.key }) {
            let entries = files[ident]?.entries ?? []
            if entries.count != known.entries.count {
                differences.append("file \(ident): \(entries.count) entries, \(known.entries.count) recorded")
            }
            for (number, (mine, theirs)) in zip(entries, known.entries).enumerated() {
                if authors[mine.originFile] != theirs.originFile {
                    differences.append("file \(ident), entry \(number): author \(mine.originFile)")
                }
                if mine.timestamp != theirs.timestamp {
                    differences.append("file \(ident), entry \(number): time \(mine.timestamp)")
                }
                if try mine.changeset.canonicalChangeset != theirs.changeset.canonicalChangeset {
                    differences.append("file \(ident), entry \(number): other instructions")
                }
            }
        }
        return differences
    }
}

extension Recording.Line {
    var text: String {
        switch self {
        case .message(let message): "\(message.isFromClient ? "C>" : "S>") \(message.head)"
        case .upgrade(let connection, _): "upgrade of \(connection)"
        default: "\(self)"
        }
    }
}
