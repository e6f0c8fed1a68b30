import Changesets
import Foundation
import Merge
import NIOPosix
import RealmState
import SyncModel
import SyncProtocol
import SyncServerSupport

/// The server's end of one realm, played from memory: pages of a history, marks, acknowledgements, one termination.
final class ScriptedServer: @unchecked Sendable {
    // Unchecked: everything mutable belongs to the one event loop, or is touched before the first connection.

    /// What a gateway puts in one DOWNLOAD.
    private static let pageBytes = 256 << 10

    private struct Entry {
        var file: UInt64
        var clientVersion: UInt64
        var timestamp: UInt64
        var changeset: [UInt8]
    }
    private struct Session {
        var file: UInt64?
        var cursor = 0
        var isRefused = false
    }

    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var server: SyncSocketServer?
    private let workload: OfflineWorkload
    private var base: [[UInt8]]
    private let baseState: RealmState
    private var remote: [[UInt8]]
    private var remoteState: RealmState
    private var history: [Entry] = []
    private var uploads: [UInt64: UploadCursor] = [:]
    private var sessions: [SessionIdent: Session] = [:]
    private var oldest: UInt64 = 2
    private var nextFile: UInt64 = 2
    private var salt: UInt64 = 5
    private var received: [UploadedChangeset] = []
    private var isAway = false

    init(_ workload: OfflineWorkload) throws {
        self.workload = workload
        (base, baseState) = try workload.base()
        remoteState = baseState
        remote = try workload.remote(on: &remoteState)
        history = base.map { Entry(file: 1, clientVersion: 0, timestamp: 0, changeset: $0) }
    }

    func start() async throws -> Int {
        let server = try await SyncSocketServer(
            .init { message, socket in self.answer(message, socket.send) }, on: group)
        self.server = server
        return server.port
    }

    // MARK: What the client process asks for

    func command(_ line: String) throws -> String {
        switch line {
        // The others' changes, while the client is away.
        case "advance":
            let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000)).rawValue
            received = []
            history += remote.enumerated().map { number, bytes in
                Entry(file: 1000 + UInt64(number % 50), clientVersion: 0, timestamp: now, changeset: bytes)
            }
            return "advanced"
        // The same, and then sync is terminated: a new history, and no old client file is known.
        case "terminate":
            received = []
            history = (base + remote).map { Entry(file: 1, clientVersion: 0, timestamp: 0, changeset: $0) }
            oldest = nextFile
            salt += 1
            return "terminated"
        case "expect":
            let number = ContentNumber(try expectedState())
            return "\(number.value) \(number.objects) \(received.count)"
        default: return "unknown"
        }
    }

    /// The state after the uploads, merged as a server does.
    private func expectedState() throws -> RealmState {
        var state = remoteState
        let first = UInt64(history.count - remote.count + 1)
        let incoming = try received.map { entry in
            IncomingChangeset(
                version: entry.clientVersion.rawValue, lastIntegratedLocalVersion: entry.serverVersion.rawValue,
                originTimestamp: entry.timestamp.rawValue, originFileIdent: 2,
                changeset: try Changeset(parsing: entry.changeset))
        }
        let local = try history.dropFirst(Int(first) - 1).enumerated().map { number, entry in
            LocalChangeset(
                version: first + UInt64(number), originTimestamp: entry.timestamp, originFileIdent: entry.file,
                changeset: try Changeset(parsing: entry.changeset))
        }
        let merged = try MergeEngine(compatibility: .convergent).transform(
            incoming: incoming, over: local, currentLocalVersion: UInt64(history.count))
        for changeset in merged.incoming { try state.apply(changeset) }
        return state
    }

    // MARK: Messages

    func answer(_ message: ClientMessage, _ send: (ServerMessage) -> Void) {
        if let ident = message.session, sessions[ident]?.isRefused == true {
            if case .unbind = message { sessions[ident] = nil }
            return
        }
        switch message {
        case .bind(let bind):
            sessions[bind.session] = Session()
            guard bind.needsIdent else { return }
            let file = ClientFileIdent(ident: FileIdent(nextFile), salt: FileSalt(nextFile + 70))
            nextFile += 1
            send(.ident(session: bind.session, file: file))
        case .ident(let ident):
            let file = ident.file.ident.rawValue
            guard file >= oldest else {
                sessions[ident.session]?.isRefused = true
                let body = JSONErrorBody(message: "sync was terminated", action: .clientReset, tryAgain: false)
                return send(.jsonError(session: ident.session, code: .badClientFileIdent, body: body))
            }
            sessions[ident.session]?.file = file
            sessions[ident.session]?.cursor = Int(ident.download.serverVersion.rawValue)
            sendPages(ident.session, send)
        case .upload(let upload):
            guard let file = sessions[upload.session]?.file else { return }
            for entry in upload.entries where entry.clientVersion > uploads[file]?.clientVersion ?? 0 {
                received.append(entry)
            }
            // Before the client leaves, its writes are part of the history that the others build on.
            if history.count == base.count, !upload.entries.isEmpty {
                let last = upload.entries.last?.clientVersion.rawValue ?? 0
                let schema = Entry(file: file, clientVersion: last, timestamp: 0, changeset: [])
                history.append(schema)
            }
            uploads[file] = upload.progress
            if !upload.entries.isEmpty { sendPages(upload.session, send) }
        case .mark(let session, let request): send(.mark(session: session, request: request))
        case .unbind(let session):
            sessions[session] = nil
            send(.unbound(session: session))
        case .ping(let timestamp, _): send(.pong(timestamp: timestamp))
        case .query, .jsonError, .testCommand: break
        }
    }

    private func sendPages(_ ident: SessionIdent, _ send: (ServerMessage) -> Void) {
        guard let session = sessions[ident], let own = session.file else { return }
        let upload = uploads[own] ?? UploadCursor()
        var integrated = history.prefix(session.cursor).last { $0.file == own }?.clientVersion ?? 0
        var cursor = session.cursor
        repeat {
            var entries: [HistoryEntry] = []
            var bytes = 0
            while cursor < history.count, bytes < Self.pageBytes {
                let entry = history[cursor]
                cursor += 1
                if entry.file == own {
                    integrated = entry.clientVersion
                    continue
                }
                bytes += entry.changeset.count
                entries.append(
                    HistoryEntry(
                        serverVersion: ServerVersion(UInt64(cursor)), clientVersion: ClientVersion(integrated),
                        originFile: FileIdent(entry.file), timestamp: SyncTimestamp(rawValue: entry.timestamp),
                        changeset: entry.changeset))
            }
            send(
                .download(
                    Download(
                        session: ident,
                        progress: SyncProgress(
                            download: DownloadCursor(
                                serverVersion: ServerVersion(UInt64(cursor)), clientVersion: ClientVersion(integrated)),
                            latest: SaltedServerVersion(
                                version: ServerVersion(UInt64(history.count)), salt: VersionSalt(salt)),
                            upload: upload),
                        detail: .partition(downloadableBytes: 0), entries: entries)))
        } while cursor < history.count
        sessions[ident]?.cursor = cursor
    }
}
