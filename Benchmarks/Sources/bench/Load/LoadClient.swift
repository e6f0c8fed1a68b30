import Changesets
import Foundation
import SyncModel
import SyncProtocol

/// One client realm on a socket of its own: opens its session as a stock client does, sends what it is given and takes
/// note of what comes. Downloads are not integrated; what they hold is looked at after the clock has stopped.
final class LoadClient {
    enum Phase { case idle, upgrading, allocating, downloading, live, ended }

    static let session: SessionIdent = 1
    private let encoder: MessageEncoder
    private let parser: ServerMessageParser
    let mode: SyncMode

    /// The partition, or what stands for it in errors.
    let partition: String
    /// The queries that a client in flexible mode subscribes to before it is live; empty: it subscribes to nothing.
    private let queries: [String: String]
    private var asked: UInt64 = 0
    /// The number of the subscription set whose data it has.
    private(set) var subscribed: UInt64 = 0
    private(set) var phase = Phase.idle
    private(set) var file: ClientFileIdent?
    /// The cursors of the last DOWNLOAD.
    private(set) var head = DownloadHead()
    private(set) var downloads = 0
    /// Whether a MARK was answered: what was in history when it was sent has come.
    private(set) var isMarked = false
    private(set) var plainBytes: UInt64 = 0
    /// What DOWNLOADs took on the wire.
    private(set) var wireBytes: UInt64 = 0
    /// The newest version of the client realm's own history, and of what it has sent.
    var clientVersion: UInt64 = 1
    /// Bodies as they came, if they are to be looked at.
    var keepsBodies = false
    private(set) var bodies: [[UInt8]] = []
    /// Whether every DOWNLOAD that moves the session on is answered by an UPLOAD of mere progress, as clients do.
    var reportsProgress = false
    private var reportedServerVersion: UInt64 = 0
    private(set) var failure: (code: Int, message: String)?
    private(set) var closeCode: UInt16?

    var onLive: (LoadClient) -> Void = { _ in }
    var onDownload: (LoadClient) -> Void = { _ in }
    var onMark: (LoadClient) -> Void = { _ in }
    /// The data of a subscription set has come.
    var onSubscribed: (LoadClient) -> Void = { _ in }
    /// A JSON_ERROR of the session, an HTTP status instead of the upgrade, or the end of the socket.
    var onFailure: (LoadClient) throws -> Void = { client in
        throw BenchFailure("a client of \(client.partition) was refused: \(client.failureText)")
    }

    private var descriptor: Int32 = -1
    private var input: [UInt8] = []
    private var inputStart = 0
    private var output: [UInt8] = []
    private var outputStart = 0

    init(partition: String) {
        self.partition = partition
        mode = .partition
        queries = [:]
        encoder = MessageEncoder(mode: .partition)
        parser = ServerMessageParser(mode: .partition)
    }

    /// A client of the app in flexible mode.
    init(subscribingTo queries: [String: String]) {
        partition = "the flexible realm"
        mode = .flexible
        self.queries = queries
        encoder = MessageEncoder(mode: .flexible)
        parser = ServerMessageParser(mode: .flexible)
    }

    var isClosed: Bool { descriptor < 0 }
    var failureText: String {
        failure.map { "\($0.code) \($0.message)" } ?? closeCode.map { "close code \($0)" } ?? "the socket ended"
    }

    // MARK: Sending

    func connected(_ descriptor: Int32, token: String) {
        self.descriptor = descriptor
        (input, inputStart, output, outputStart) = ([], 0, [], 0)
        (failure, closeCode, isMarked) = (nil, nil, false)
        phase = .upgrading
        let name = mode == .flexible ? "com.mongodb.realm-query-sync#" : "com.mongodb.realm-sync#"
        let app = mode == .flexible ? BenchCluster.flexibleApp : BenchCluster.app
        let offers = (2...14).reversed().map { "\(name)\($0)" }.joined(separator: ", ")
        output +=
            """
            GET /api/client/v2.0/app/\(app)/realm-sync?baas_at=\(token) HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Protocol: \(offers)\r
            User-Agent: bench\r
            \r

            """.utf8
        flush()
    }

    func send(_ message: ClientMessage) throws { sendFrames(ClientFrame.masked(try encoder.encode(message))) }

    /// Asks for a new subscription set.
    func subscribe(to queries: [String: String]) throws {
        asked += 1
        try send(
            .query(
                Query(
                    session: Self.session, query: QuerySet(version: QueryVersion(rawValue: asked), queries: queries))))
    }

    /// Frames made before the clock started.
    func sendFrames(_ frames: [UInt8]) {
        output += frames
        flush()
    }

    /// UNBIND, BIND and IDENT of a client realm that the server knows already, after its session ended.
    func bindAgain() throws {
        guard let file else { throw BenchFailure("a client without an ident cannot bind again") }
        failure = nil
        try send(.unbind(session: Self.session))
        try bind(file)
    }

    /// BIND and IDENT of a client realm that the server knows already.
    private func bind(_ file: ClientFileIdent) throws {
        phase = .downloading
        try send(.bind(Bind(session: Self.session, partition: .string(partition), needsIdent: false)))
        try send(
            .ident(
                Ident(
                    session: Self.session, file: file,
                    download: DownloadCursor(
                        serverVersion: ServerVersion(rawValue: head.serverVersion),
                        clientVersion: ClientVersion(rawValue: head.clientVersion)),
                    latest: SaltedServerVersion(
                        version: ServerVersion(rawValue: head.latestVersion),
                        salt: VersionSalt(rawValue: head.latestSalt)))))
    }

    private func flush() {
        while descriptor >= 0, outputStart < output.count {
            let count = output.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + outputStart }, $0.count - outputStart,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            outputStart += count
        }
        output = []
        outputStart = 0
    }

    func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        phase = .ended
    }

    // MARK: Receiving

    /// The socket can be read or written.
    func ready(_ scratch: inout [UInt8]) throws {
        flush()
        while descriptor >= 0 {
            let count = recv(descriptor, &scratch, scratch.count, 0)
            if count > 0 {
                input += scratch[..<count]
                try consume()
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                disconnect()
                try onFailure(self)
            } else if errno == EAGAIN {
                return
            }
        }
    }

    private func consume() throws {
        if phase == .upgrading { try readUpgrade() }
        while descriptor >= 0, phase != .upgrading, let frame = ServerFrame(in: input, at: inputStart) {
            inputStart = frame.payload.upperBound
            switch frame.opcode {
            case 0x2: try receive(input[frame.payload])
            case 0x8:
                closeCode = frame.closeCode(in: input)
                disconnect()
                return try onFailure(self)
            default: break
            }
        }
        if inputStart == input.count {
            // Capacity goes, too: thousands of idle clients share one machine with what is measured.
            input = []
            inputStart = 0
        } else if inputStart > 1 << 20 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
    }

    private func readUpgrade() throws {
        guard let end = input.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        guard input.starts(with: "HTTP/1.1 101".utf8) else {
            let status = String(decoding: input.dropFirst(9).prefix(3), as: UTF8.self)
            failure = (Int(status) ?? 0, "no upgrade: \(String(decoding: input.prefix(200), as: UTF8.self))")
            disconnect()
            return try onFailure(self)
        }
        inputStart = end.upperBound
        if let file {
            // A client realm that comes back asks at once for what it has missed, as stock clients do.
            try bind(file)
            return try send(.mark(session: Self.session, request: 1))
        }
        phase = .allocating
        switch mode {
        case .partition:
            try send(.bind(Bind(session: Self.session, partition: .string(partition), needsIdent: true)))
        case .flexible: try send(.bind(Bind(session: Self.session, target: FlexibleTarget().text, needsIdent: true)))
        }
    }

    private func receive(_ payload: ArraySlice<UInt8>) throws {
        if payload.starts(with: "download ".utf8) { return try downloaded(payload) }
        switch try parser.parse(Array(payload)) {
        case .ident(_, let file):
            self.file = file
            phase = .downloading
            try send(
                .ident(
                    Ident(
                        session: Self.session, file: file,
                        query: mode == .flexible ? QuerySet(version: 0, text: "{}") : nil)))
        case .mark:
            isMarked = true
            onMark(self)
        case .queryError(let error):
            failure = (error.code.rawValue, error.message)
            try onFailure(self)
        case .jsonError(_, let code, let body):
            failure = (code.rawValue, body.message)
            phase = .ended
            try onFailure(self)
        default: break
        }
    }

    private func downloaded(_ payload: ArraySlice<UInt8>) throws {
        head = try DownloadHead(payload, mode: mode)
        downloads += 1
        plainBytes += head.plainBytes
        wireBytes += UInt64(payload.count)
        if keepsBodies { bodies.append(Array(payload)) }
        if let batch = head.batch, batch.state == 1, batch.set > subscribed {
            subscribed = batch.set
            onSubscribed(self)
        }
        if phase == .downloading {
            if asked == 0, !queries.isEmpty {
                try subscribe(to: queries)
            } else if subscribed == asked {
                phase = .live
                onLive(self)
            }
        }
        onDownload(self)
        if reportsProgress, head.serverVersion > reportedServerVersion {
            reportedServerVersion = head.serverVersion
            clientVersion += 1
            try send(
                .upload(
                    Upload(
                        session: Self.session,
                        progress: UploadCursor(
                            clientVersion: ClientVersion(rawValue: clientVersion),
                            serverVersion: ServerVersion(rawValue: head.serverVersion)),
                        lockedServerVersion: ServerVersion(rawValue: head.serverVersion))))
        }
    }

    /// The changesets in everything that was downloaded.
    func countDownloaded() throws -> Int { try downloaded().reduce(0) { $0 + $1.entries.count } }

    /// The objects that everything that was downloaded creates.
    func countCreated() throws -> Int {
        try downloaded().lazy.flatMap(\.entries).reduce(0) { count, entry in
            guard !entry.changeset.isEmpty else { return count }
            return try Changeset(parsing: entry.changeset).instructions.reduce(into: count) { count, instruction in
                if case .createObject = instruction { count += 1 }
            }
        }
    }

    private func downloaded() throws -> [Download] {
        try bodies.compactMap { body in
            guard case .download(let download) = try parser.parse(body) else { return nil }
            return download
        }
    }

    func forgetBodies() { bodies = [] }
}
