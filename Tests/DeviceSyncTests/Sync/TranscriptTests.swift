import Foundation
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// The state machine beside a stock client: for the same lines of the server it sends the same lines.
struct TranscriptTests {
    struct Line: Decodable {
        var kind: String
        var connection: Int?
        var from: String?
        var head: String?
        var body_base64: String?

        var bytes: [UInt8] {
            Array((head ?? "").utf8) + [0x0A] + [UInt8](Data(base64Encoded: body_base64 ?? "") ?? Data())
        }
    }

    struct Part: CustomTestStringConvertible, Sendable {
        var file: String
        var connection: Int
        var session: UInt64
        var uploads = true
        /// The session of a merged reset.
        var isReset = false
        var testDescription: String { "\(file), connection \(connection), session \(session)" }
    }

    static let parts = [
        Part(file: "pbs-first-connect-and-resume", connection: 4, session: 1),
        Part(file: "pbs-first-connect-and-resume", connection: 4, session: 2),
        Part(file: "pbs-first-connect-and-resume", connection: 8, session: 1),
        Part(file: "pbs-first-connect-and-resume", connection: 9, session: 1),
        Part(file: "pbs-client-reset-recover", connection: 4, session: 2),
        Part(file: "pbs-client-reset-recover", connection: 4, session: 3, uploads: false),
        Part(file: "pbs-client-reset-recover", connection: 4, session: 4, isReset: true),
        Part(file: "pbs-client-reset-no-recovery-discard", connection: 4, session: 3, uploads: false),
        Part(file: "pbs-client-reset-no-recovery-discard", connection: 4, session: 4, isReset: true),
        Part(file: "pbs-json-errors", connection: 4, session: 2),
    ]

    @Test(.enabled(if: RecordedVectors.isComplete, "needs SLUICE_VECTORS"), arguments: parts)
    func sendsWhatAStockClientSends(part: Part) throws {
        let file = try #require(
            RecordedVectors.files("transcripts").first { $0.lastPathComponent == part.file + ".ndjson" })
        let lines = try RecordedVectors.lines(of: file, as: Line.self).filter { line in
            guard line.kind == "message", line.connection == part.connection, let head = line.head else { return false }
            let words = head.split(separator: " ")
            guard words.count > 1, words[0] != "ping", words[0] != "pong", words[0] != "log_message" else {
                return false
            }
            return words[0] == "json_error" ? words.last == "\(part.session)" : words[1] == "\(part.session)"
        }
        var player = try Player(part, lines)
        try player.run()
    }

    private struct Player {
        let lines: [Line]
        let clientParser = ClientMessageParser(mode: .partition)
        let serverParser = ServerMessageParser(mode: .partition)
        var machine: ClientSession
        var newest: ClientVersion = 0

        init(_ part: Part, _ lines: [Line]) throws {
            self.lines = lines
            var bind: Bind?
            var ident: Ident?
            var firstMark: RequestIdent?
            for line in lines where line.from == "client" {
                switch try clientParser.parse(line.bytes) {
                case .bind(let message): bind = bind ?? message
                case .ident(let message): ident = ident ?? message
                case .mark(_, let request): firstMark = firstMark ?? request
                default: break
                }
            }
            let first = try #require(bind)
            var progress = SyncProgress()
            if let ident {
                progress.download = ident.download
                progress.latest = ident.latest
                progress.upload.clientVersion = ident.download.clientVersion
            }
            machine = ClientSession(
                ident: SessionIdent(part.session), target: first.target,
                fileIdent: first.needsIdent ? nil : ident?.file, progress: part.isReset ? SyncProgress() : progress,
                newestVersion: 0, uploads: part.uploads, holdsIdent: part.isReset,
                lastMark: RequestIdent((firstMark?.rawValue ?? 1) - 1))
            machine.connected(fastReconnect: false)
            if part.isReset, let ident {
                _ = machine.nextMessage { cursor, _ in .init(progress: cursor) }
                expectTrue(machine.nextMessage { cursor, _ in .init(progress: cursor) } == nil)
                machine.release(fileIdent: ident.file, progress: progress, newestVersion: 0)
            }
            sentBind = part.isReset
        }

        private let sentBind: Bool
        private var hasFailed = false

        mutating func run() throws {
            for (index, line) in lines.enumerated() {
                if line.from == "server" {
                    // The recording ends with a line that breaks the protocol on purpose.
                    guard let message = try? serverParser.parse(line.bytes) else { break }
                    receive(message)
                    continue
                }
                let expected = try clientParser.parse(line.bytes)
                if case .bind = expected, sentBind, index == 0 { continue }
                // What was on its way when the error came.
                if hasFailed, expected.name != "unbind" { continue }
                try send(expected)
            }
        }

        private mutating func send(_ expected: ClientMessage) throws {
            switch expected {
            case .mark(_, let request): if machine.markTarget < request { machine.requestMark() }
            case .unbind: if machine.phase != .suspended { machine.end() }
            case .upload(let upload):
                // The gate is open, or a stock client would not have sent it; the history is the recording's.
                machine.localVersion(upload.progress.clientVersion)
            default: break
            }
            let message = machine.nextMessage { cursor, _ in
                guard case .upload(let upload) = expected else { return .init(progress: cursor) }
                return .init(progress: upload.progress, entries: upload.entries)
            }
            expectEqual(message, expected)
        }

        private mutating func receive(_ message: ServerMessage) {
            switch machine.receive(message) {
            case .integrate(let download):
                var progress = download.progress
                if progress.upload.serverVersion == 0 {
                    progress.upload.serverVersion = machine.progress.upload.serverVersion
                }
                machine.integrated(progress, newestVersion: machine.newestVersion)
            case .sessionError: hasFailed = true
            default: break
            }
        }
    }

    @Test func anUploadWaitsForTheMarkAndAFastReconnectDoesNot() {
        let file = ClientFileIdent(ident: 5, salt: 6)
        var machine = ClientSession(
            ident: 1, target: "\"p\"", fileIdent: file, progress: SyncProgress(), newestVersion: 3)
        let entry = UploadedChangeset(clientVersion: 3, serverVersion: 0, timestamp: 9, changeset: [1])
        func names(_ machine: inout ClientSession) -> [String] {
            var names: [String] = []
            while let message = machine.nextMessage(scan: { _, version in
                .init(progress: UploadCursor(clientVersion: version, serverVersion: 0), entries: [entry])
            }) {
                names.append(message.name)
            }
            return names
        }
        machine.connected(fastReconnect: false)
        expectEqual(names(&machine), ["bind", "ident", "mark"])
        expectEqual(machine.receive(.mark(session: 1, request: 1)), .markReached(1))
        expectEqual(names(&machine), ["upload"])
        machine.disconnected()
        machine.connected(fastReconnect: true)
        expectEqual(names(&machine), ["bind", "ident", "upload"])
        machine.disconnected()
        machine.connected(fastReconnect: false)
        expectEqual(names(&machine), ["bind", "ident", "mark"])
    }

    @Test func afterAFailedIntegrationOnlyTheErrorIsSent() {
        var machine = ClientSession(
            ident: 1, target: "null", fileIdent: ClientFileIdent(ident: 5, salt: 6),
            progress: SyncProgress(),
            newestVersion: 3)
        machine.connected(fastReconnect: false)
        for _ in 0..<3 { _ = machine.nextMessage { cursor, _ in .init(progress: cursor) } }
        machine.integrationFailed(.badChangeset, "no")
        expectEqual(machine.nextMessage { cursor, _ in .init(progress: cursor) }?.name, "json_error")
        expectTrue(machine.nextMessage { cursor, _ in .init(progress: cursor) } == nil)
        machine.requestMark()
        expectTrue(machine.nextMessage { cursor, _ in .init(progress: cursor) } == nil)
    }

    @Test func anErrorIsAnsweredWithUnbindAloneUntilTheSessionResumes() {
        var machine = ClientSession(
            ident: 1, target: "null", fileIdent: ClientFileIdent(ident: 5, salt: 6),
            progress: SyncProgress(),
            newestVersion: 1)
        machine.connected(fastReconnect: false)
        for _ in 0..<3 { _ = machine.nextMessage { cursor, _ in .init(progress: cursor) } }
        let body = JSONErrorBody(message: "later", action: .transient, tryAgain: true)
        expectEqual(
            machine.receive(.jsonError(session: 1, code: .sessionClosed, body: body)),
            .sessionError(.sessionClosed, body))
        expectEqual(machine.nextMessage { cursor, _ in .init(progress: cursor) }, .unbind(session: 1))
        expectTrue(machine.nextMessage { cursor, _ in .init(progress: cursor) } == nil)
        machine.resume()
        expectEqual(machine.nextMessage { cursor, _ in .init(progress: cursor) }?.name, "bind")
    }
}
