import Foundation
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// The state machine of a flexible session beside a stock client: for the same lines of the server it sends the same lines.
struct FlexibleTranscriptTests {
    /// What was before the first line.
    enum Start: Sendable {
        case nothing
        /// The session was live on this connection.
        case live
        /// The session was live on another connection, which was lost for a moment.
        case reconnect
        /// A client reset whose merge holds the IDENT back.
        case reset
    }

    struct Part: CustomTestStringConvertible, Sendable {
        var file: String
        var connection: Int
        var session: UInt64
        var start = Start.nothing
        var uploads = true
        var testDescription: String { "\(file), connection \(connection), session \(session)" }
    }

    static let parts = [
        Part(file: "flx-first-bootstrap-two-batches", connection: 8, session: 1),
        Part(file: "flx-query-change-error-steady-state", connection: 8, session: 1, start: .live),
        Part(file: "flx-compensating-write-and-repeat", connection: 4, session: 1, start: .live),
        Part(file: "flx-compensating-write-and-repeat", connection: 5, session: 1, start: .reconnect),
        Part(file: "flx-role-change-and-interrupted-bootstrap", connection: 4, session: 1, start: .live),
        Part(file: "flx-role-change-and-interrupted-bootstrap", connection: 5, session: 1),
        Part(file: "flx-client-reset-recover-pending-query", connection: 4, session: 2),
        Part(file: "flx-client-reset-recover-pending-query", connection: 4, session: 3, uploads: false),
        Part(file: "flx-client-reset-recover-pending-query", connection: 4, session: 4, start: .reset),
        Part(file: "flx-schema-version-change", connection: 5, session: 1),
        Part(file: "pbs-migrate-to-flx-and-back", connection: 5, session: 3, uploads: false),
        Part(file: "pbs-migrate-to-flx-and-back", connection: 5, session: 4, start: .reset),
        Part(file: "flx-schema-version-change", connection: 5, session: 2),
    ]

    @Test(.enabled(if: RecordedVectors.isComplete, "needs SLUICE_VECTORS"), arguments: parts)
    func sendsWhatAStockClientSends(part: Part) throws {
        let file = try #require(
            RecordedVectors.files("transcripts").first { $0.lastPathComponent == part.file + ".ndjson" })
        let lines = try RecordedVectors.lines(of: file, as: TranscriptTests.Line.self).filter { line in
            guard line.kind == "message", line.connection == part.connection, let head = line.head else { return false }
            let words = head.split(separator: " ")
            guard words.count > 1 else { return false }
            switch words[0] {
            case "ping", "pong", "log_message": return false
            case "json_error": return words.last == "\(part.session)"
            case "query_error": return words[3] == "\(part.session)"
            default: return words[1] == "\(part.session)"
            }
        }
        var player = try Player(part, lines)
        try player.run()
        // Each part has something to compare.
        expectTrue(player.compared > 2)
    }

    @Test func aMarkThatWasAnsweredTooEarlyIsAskedForAgain() {
        var sets = SubscriptionSets()
        sets.bootstrapped(0)
        sets.markReached()
        expectEqual(sets.append([], snapshot: 0), 1)
        var machine = ClientSession(
            ident: 1, target: FlexibleTarget().text, fileIdent: ClientFileIdent(ident: 5, salt: 6),
            progress: SyncProgress(), newestVersion: 0, subscriptions: sets)
        func send() -> [String] {
            var names: [String] = []
            while let message = machine.nextMessage(scan: { cursor, _ in .init(progress: cursor) }) {
                names.append(message.name)
            }
            return names
        }
        machine.connected(fastReconnect: false)
        expectEqual(send(), ["bind", "ident", "mark"])
        _ = machine.receive(.mark(session: 1, request: 1))
        expectEqual(send(), ["query", "mark"])
        sets.bootstrapped(1)
        machine.subscriptionsChanged(sets)
        // The one that is on its way will do.
        expectTrue(send().isEmpty)
        _ = machine.receive(.mark(session: 1, request: 2))
        machine.subscriptionsChanged(sets)
        expectEqual(send(), ["mark"])
    }

    private struct Player {
        let part: Part
        var messages: [(fromClient: ClientMessage?, fromServer: ServerMessage?)] = []
        var machine: ClientSession
        var sets: SubscriptionSets
        var compared = 0
        private var hasFailed = false
        private var skipsBind: Bool

        init(_ part: Part, _ lines: [TranscriptTests.Line]) throws {
            self.part = part
            let clientParser = ClientMessageParser(mode: .flexible)
            let serverParser = ServerMessageParser(mode: .flexible)
            for line in lines {
                messages.append(
                    line.from == "client"
                        ? (try clientParser.parse(line.bytes), nil) : (nil, try serverParser.parse(line.bytes)))
            }
            var progress = SyncProgress()
            var file: ClientFileIdent?
            var target = FlexibleTarget(schemaVersion: 1).text
            var active: QuerySet?
            var firstMark: UInt64?
            var firstQuery: QueryVersion?
            for case .some(let message) in messages.map(\.fromClient).reversed() {
                switch message {
                case .bind(let bind): target = try bind.flexible().text
                case .ident(let ident):
                    file = ident.file
                    active = ident.query
                    progress = SyncProgress(download: ident.download, latest: ident.latest)
                    progress.upload.clientVersion = ident.download.clientVersion
                case .mark(_, let request): firstMark = request.rawValue
                case .query(let query): firstQuery = query.query.version
                case .upload(let upload) where file == nil:
                    progress.download.serverVersion = upload.lockedServerVersion
                default: break
                }
            }
            let needsIdent = messages.contains { if case .ident? = $0.fromServer { true } else { false } }
            sets = SubscriptionSets()
            if active == nil, let firstQuery {
                active = QuerySet(version: QueryVersion(firstQuery.rawValue - 1), text: "{}")
            }
            if let active, active.version > 0 { sets = SubscriptionSets(stored: [try Self.set(active, .complete, 0)]) }
            let before: UInt64 = part.start == .nothing || part.start == .reset ? 1 : 2
            machine = ClientSession(
                ident: SessionIdent(part.session), target: target,
                fileIdent: needsIdent ? nil : file ?? ClientFileIdent(ident: 2, salt: 3),
                progress: part.start == .reset ? SyncProgress() : progress, newestVersion: 0, subscriptions: sets,
                uploads: part.uploads, holdsIdent: part.start == .reset,
                lastMark: RequestIdent(max(firstMark ?? before, before) - before))
            skipsBind = part.start == .reset
            machine.connected(fastReconnect: false)
            switch part.start {
            case .nothing: break
            case .reset:
                _ = next()
                expectTrue(next() == nil)
                machine.release(fileIdent: try #require(file), progress: progress, newestVersion: 0)
            case .live, .reconnect:
                for _ in 0..<3 { _ = next() }
                _ = machine.receive(.mark(session: machine.ident, request: machine.markTarget))
                guard part.start == .reconnect else { break }
                machine.disconnected()
                machine.connected(fastReconnect: true)
            }
        }

        /// A set with the queries of a recorded one, which has one a class.
        private static func set(
            _ recorded: QuerySet, _ state: SubscriptionSet.State, _ snapshot: ClientVersion
        ) throws -> SubscriptionSet {
            SubscriptionSet(
                version: recorded.version, state: state, snapshot: snapshot,
                subscriptions: try recorded.queries().map { name, text in
                    Subscription(className: name, query: String(text.dropFirst().dropLast()))
                })
        }

        private mutating func next() -> ClientMessage? { machine.nextMessage { cursor, _ in .init(progress: cursor) } }

        mutating func run() throws {
            for message in messages {
                if let message = message.fromServer { receive(message) }
                guard let expected = message.fromClient else { continue }
                if case .bind = expected {
                    if skipsBind {
                        skipsBind = false
                        continue
                    }
                    if machine.phase == .suspended {
                        machine.resume()
                        hasFailed = false
                    }
                }
                // What was on its way when the error came.
                if hasFailed, expected.name != "unbind" { continue }
                try send(expected)
            }
        }

        private mutating func send(_ expected: ClientMessage) throws {
            var expected = expected
            switch expected {
            case .mark(_, let request): if machine.markTarget < request { machine.requestMark() }
            case .unbind: if machine.phase != .suspended { machine.end() }
            case .upload(let upload):
                // What was on its way when the server acknowledged it.
                if upload.progress.clientVersion <= machine.progress.upload.clientVersion { return }
                machine.localVersion(upload.progress.clientVersion)
            case .query(let query):
                let new = try Self.set(query.query, .pending, machine.scanned.clientVersion)
                if sets[new.version] == nil {
                    expectEqual(sets.append(new.subscriptions, snapshot: new.snapshot), new.version)
                    machine.subscriptionsChanged(sets)
                }
            default: break
            }
            let recorded = expected
            let message = machine.nextMessage { cursor, _ in
                guard case .upload(let upload) = recorded else { return .init(progress: cursor) }
                return .init(progress: upload.progress, entries: upload.entries)
            }
            // An upload may have been on its way when the download before it came.
            if case .upload(var upload) = expected, case .upload(let sent) = message {
                expectTrue(sent.lockedServerVersion >= upload.lockedServerVersion)
                upload.lockedServerVersion = sent.lockedServerVersion
                expected = .upload(upload)
            }
            expectEqual(message, expected)
            compared += 1
        }

        private mutating func receive(_ message: ServerMessage) {
            switch machine.receive(message) {
            case .integrate(let download):
                guard let batch = download.batch, batch.state != .moreToCome else { return }
                if batch.state == .lastInBatch { sets.bootstrapped(batch.queryVersion) }
                var progress = download.progress
                if progress.upload.serverVersion == 0 {
                    progress.upload.serverVersion = machine.progress.upload.serverVersion
                }
                machine.integrated(progress, newestVersion: machine.newestVersion)
            case .markReached: sets.markReached()
            case .queryRefused(let version, let reason): sets.refused(version, reason)
            case .sessionError(let code, _): hasFailed = code.entry?.sessionContinues != true
            case .persistIdent, nil: break
            }
            machine.subscriptionsChanged(sets)
        }
    }
}
