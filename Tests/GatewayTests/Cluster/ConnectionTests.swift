import Foundation
import Messages
import Storage
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Whole connections: a client on a socket, a real broker, a scripted owner of the slices.
@Suite(.needsBroker, .timeLimit(.minutes(5)))
struct ConnectionTests {
    static let realm = RealmName(app: "tasks", partition: "\"tasks\"")

    /// Opens a session up to its first DOWNLOAD.
    static func open(
        _ client: inout SyncClient, session: SessionIdent = 1, partition: String = "\"tasks\""
    ) async throws -> ClientFileIdent {
        try await client.send(.bind(Bind(session: session, target: partition, needsIdent: true)))
        guard case .ident(session, let file) = try await client.nextMessage() else {
            throw HarnessError("expected IDENT")
        }
        try await client.send(.ident(Ident(session: session, file: file)))
        guard case .download(let download) = try await client.nextMessage(), download.session == session else {
            throw HarnessError("expected DOWNLOAD")
        }
        return file
    }

    static func upload(_ version: UInt64, session: SessionIdent = 1, bytes: [UInt8] = [1, 2, 3]) -> ClientMessage {
        .upload(
            Upload(
                session: session, progress: .init(clientVersion: ClientVersion(version)), lockedServerVersion: 0,
                entries: [
                    UploadEntry(
                        clientVersion: ClientVersion(version), serverVersion: 0, originTimestamp: 1, changeset: bytes)
                ]))
    }

    @Test func loginUpgradeBindUploadAckAndMark() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                #expect(client.head.contains("X-Appservices-Request-Id: "))
                #expect(client.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                let file = try await Self.open(&client)
                #expect(file.ident >= 2)
                try await client.send(.mark(session: 1, request: 1))
                #expect(try await client.nextMessage() == .mark(session: 1, request: 1))
                try await client.send(Self.upload(2))
                guard case .download(let download) = try await client.nextMessage() else {
                    throw HarnessError("expected an acknowledgement")
                }
                #expect(download.uploadClientVersion == 2)
                #expect(download.entries.isEmpty)
                try await client.send(.ping(timestamp: 42, roundTrip: 0))
                #expect(try await client.nextMessage() == .pong(timestamp: 42))
                try await client.send(.unbind(session: 1))
                #expect(try await client.nextMessage() == .unbound(session: 1))
            }
            try await eventually("the owner hears of the unbind") { await gateway.owner?.unbinds.count == 1 }
        }
    }

    @Test func theOwnerHearsOfAClientThatBindsAndLeavesAtOnce() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            // The end of a socket counts as leaving, too.
            for (partition, unbinds) in [("\"unbound\"", true), ("\"lost\"", false)] {
                try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                    try await client.send(.bind(Bind(session: 1, target: partition, needsIdent: false)))
                    guard unbinds else { return }
                    try await client.send(.unbind(session: 1))
                    #expect(try await client.nextMessage() == .unbound(session: 1))
                }
                let realm = RealmName(app: "tasks", partition: partition)
                try await eventually("the owner hears of both") { await gateway.owner?.comings[realm]?.count == 2 }
                #expect(await gateway.owner?.comings[realm] == ["bind", "unbind"])
            }
            #expect(await gateway.owner?.unbinds.map(\.isOrderly) == [true, false])
            #expect(await gateway.owner?.unbinds.map(\.wasRefused) == [false, false])
        }
    }

    @Test func aClientFileIsNotMadeForAClientThatHasLeft() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"left\"", needsIdent: true)))
                try await client.send(.unbind(session: 1))
                #expect(try await client.nextMessage() == .unbound(session: 1))
                // The same realm's slice: what was told of the other session came before this.
                try await client.send(.bind(Bind(session: 2, target: "\"left\"", needsIdent: false)))
                try await client.send(.unbind(session: 2))
            }
            let realm = RealmName(app: "tasks", partition: "\"left\"")
            try await eventually("the owner hears of the second") {
                let comings = await gateway.owner?.comings[realm] ?? []
                return comings.suffix(2) == ["bind", "unbind"]
            }
            // Either both of a session are told or neither.
            let comings = await gateway.owner?.comings[realm] ?? []
            #expect(comings.count { $0 == "bind" } == comings.count { $0 == "unbind" })
        }
    }

    @Test func whatOneClientUploadsTheOtherDownloads() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let (first, second) = (try await gateway.logInAnonymously(), try await gateway.logInAnonymously())
            try await SyncClient.with(port: gateway.port, token: first.access) { ann in
                _ = try await Self.open(&ann)
                for version in 2...6 {
                    try await ann.send(Self.upload(UInt64(version), bytes: Array(repeating: 5, count: 2000)))
                }
                var acknowledged: ClientVersion = 0
                while acknowledged < 6 {
                    guard case .download(let download) = try await ann.nextMessage() else { continue }
                    acknowledged = download.uploadClientVersion
                }
                // A newcomer is fed page by page.
                try await SyncClient.with(port: gateway.port, token: second.access) { bob in
                    _ = try await Self.open(&bob)
                    try await bob.send(.mark(session: 1, request: 1))
                    var last: Download?
                    while case .download(let download) = try await bob.nextMessage() { last = download }
                    #expect(last?.downloadServerVersion == 5)
                    #expect(last?.latestServerVersion == 5)
                }
                // One that is live is told at once.
                try await SyncClient.with(port: gateway.port, token: second.access) { cat in
                    _ = try await Self.open(&cat)
                    try await cat.send(.mark(session: 1, request: 1))
                    while case .download = try await cat.nextMessage() {}
                    try await cat.send(Self.upload(9))
                }
                guard case .download(let download) = try await ann.nextMessage() else { throw HarnessError("expected") }
                #expect(download.entries.map(\.serverVersion) == [6])
            }
        }
    }

    @Test func manySessionsShareOneSocket() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                for session in 1...20 {
                    _ = try await Self.open(
                        &client, session: SessionIdent(UInt64(session)), partition: "\"p\(session)\"")
                }
                for session in 1...20 { try await client.send(Self.upload(2, session: SessionIdent(UInt64(session)))) }
                var acknowledged: Set<SessionIdent> = []
                while acknowledged.count < 20 {
                    if case .download(let download) = try await client.nextMessage() {
                        acknowledged.insert(download.session)
                    }
                }
            }
            try await eventually("the owner hears of all losses") { await gateway.owner?.unbinds.count == 20 }
            #expect(await gateway.owner?.unbinds.allSatisfy { !$0.isOrderly } == true)
        }
    }

    @Test func anUnknownClientFileIsResetAndTheCoordinatorHearsOfIt() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
                try await client.send(.ident(Ident(session: 1, file: ClientFileIdent(ident: 99, salt: 1))))
                guard case .jsonError(1, .badClientFileIdent, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 208")
                }
                #expect(body.action == .clientReset)
                try await client.send(.mark(session: 1, request: 1))
                try await client.send(.unbind(session: 1))
                _ = try await Self.open(&client, session: 2)
            }
            try await eventually("the coordinator hears of it") { await !(gateway.owner?.outcomes ?? []).isEmpty }
            let report = try #require(await gateway.owner?.outcomes.first).decode(NotifiedReport.self)
            #expect(report.campaign == "c1")
            #expect(report.clientFile == 99)
        }
    }

    @Test func aTerminationReachesLiveSessions() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client)
                guard let slices = SliceCount(2) else { return }
                try await gateway.owner?.notify(
                    ResetNotice(
                        app: "tasks", partition: nil, slice: Self.realm.slice(of: slices), generation: 2,
                        clientFile: nil,
                        campaign: "c5", code: 208, message: "sync was terminated"),
                    key: ResetNotice.topicKey(app: "tasks"))
                guard case .jsonError(1, .badClientFileIdent, _) = try await client.nextMessage() else {
                    throw HarnessError("expected 208")
                }
            }
            try await eventually("the coordinator hears of it") { await gateway.owner?.outcomes.count == 1 }
        }
    }

    @Test func pausingAnAppEndsItsSessionsForAWhile() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client)
                _ = try await gateway.store.updateApp("tasks") { $0.syncState = .paused }
                try await gateway.owner?.notify(
                    SettingsNotice(app: "tasks"), key: SettingsNotice.topicKey(app: "tasks"))
                guard case .jsonError(1, .initialSyncNotCompleted, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 229")
                }
                #expect(body.action == .transient)
            }
        }
    }

    @Test func aSilentOwnerCostsTheSessionAndNotTheSocket() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.timings.requestDeadline = .milliseconds(1500) }) {
            gateway in
            let tokens = try await gateway.logInAnonymously()
            await gateway.owner?.ignore([BindRequest.type])
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                try await client.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
                guard case .jsonError(1, .otherSessionError, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected 201")
                }
                #expect(body.action == .transient)
                #expect(body.tryAgain)
                await gateway.owner?.ignore([])
                // The deadline is short, and the machine may be busy: a client whose session is refused tries again.
                let isOpen = try await Self.isOpened(&client, onAnyOf: 2..<30)
                #expect(isOpen)
            }
        }
    }

    /// Binds and identifies new sessions, one after the other, until a download comes on one.
    static func isOpened(_ client: inout SyncClient, onAnyOf sessions: Range<UInt64>) async throws -> Bool {
        for session in sessions.map(SessionIdent.init) {
            try await client.send(.bind(Bind(session: session, target: "\"tasks\"", needsIdent: true)))
            reading: while true {
                switch try await client.nextMessage() {
                case .ident(session, let file): try await client.send(.ident(Ident(session: session, file: file)))
                case .download(let download) where download.session == session: return true
                case .jsonError(session, .otherSessionError, _): break reading
                default: throw HarnessError("expected IDENT, DOWNLOAD or a transient error on session \(session)")
                }
            }
        }
        return false
    }

    @Test func theNewerConnectionOfAClientFileWins() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { older in
                let file = try await Self.open(&older)
                try await SyncClient.with(port: gateway.port, token: tokens.access) { newer in
                    try await newer.send(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
                    try await newer.send(.ident(Ident(session: 1, file: file)))
                    guard case .download = try await newer.nextMessage() else {
                        throw HarnessError("expected DOWNLOAD")
                    }
                    try await newer.send(.ping(timestamp: 1, roundTrip: 0))
                    #expect(try await newer.nextMessage() == .pong(timestamp: 1))
                }
                try await older.expects(.end)
            }
        }
    }

    @Test func unacknowledgedUploadsStopTheReading() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.limits.sessionUnacknowledgedBytes = 1000 }) {
            gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client)
                await gateway.owner?.ignore([ChangesetMessage.type])
                for version in 2...40 {
                    try await client.send(Self.upload(UInt64(version), bytes: Array(repeating: 1, count: 600)))
                }
                try await client.send(.ping(timestamp: 7, roundTrip: 0))
                try await Task.sleep(for: .milliseconds(300))
                let seen = await gateway.owner?.received.filter { $0 == ChangesetMessage.type }.count ?? 0
                #expect(seen < 10)
            }
            // The rest of the budget comes back with the socket's end.
            let other = try await gateway.logInAnonymously()
            await gateway.owner?.ignore([])
            try await SyncClient.with(port: gateway.port, token: other.access) { client in
                _ = try await Self.open(&client)
            }
        }
    }

    @Test func rulesBrokenByOneClientCostThatClientOnly() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { good in
                _ = try await Self.open(&good)
                let hostile: [[UInt8]] = [
                    Array("".utf8), Array("bind".utf8), Array("mark 9 1\n".utf8), Array("bind 1 4 0 1 0\n\"a\"".utf8),
                    Array("ident 1 2 3 0 0 0 0\n".utf8), Array("upload 1 1 99999999 4 0 0 0\nabcd".utf8),
                    Array("pong 1\n".utf8), Array(repeating: 0x20, count: 5000),
                ]
                for payload in hostile {
                    try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                        try await bad.sendBinary(payload)
                        guard case .message(.jsonError(0, let code, let body)) = try await bad.next() else {
                            throw HarnessError("expected an error of the connection")
                        }
                        #expect((100...199).contains(code.rawValue))
                        #expect(body.action == .protocolViolation)
                        try await bad.expects(.end)
                    }
                }
                try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                    try await bad.stream.write(SyncClient.frame(0x81, Array("text".utf8)))
                    try await bad.expects(.close(1003))
                }
                try await SyncClient.with(port: gateway.port, token: tokens.access) { bad in
                    try await bad.send(.bind(Bind(session: 1, target: "{not json", needsIdent: true)))
                    guard case .jsonError(1, .illegalRealmPath, _) = try await bad.nextMessage() else {
                        throw HarnessError("expected 204")
                    }
                    try await bad.send(.unbind(session: 1))
                    _ = try await Self.open(&bad)
                }
                try await good.send(.ping(timestamp: 3, roundTrip: 0))
                #expect(try await good.nextMessage() == .pong(timestamp: 3))
            }
        }
    }

    @Test func anUploadBeyondTheLimitResetsItsSessionOnly() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client, session: 1, partition: "\"a\"")
                _ = try await Self.open(&client, session: 2, partition: "\"b\"")
                let size = 17 << 20
                let head = Array("upload 1 0 \(size) 0 2 0 0\n2 0 1 0 \(size - 20) ".utf8)
                try await client.sendBinary(head + Array(repeating: 0, count: size))
                guard case .jsonError(1, _, let body) = try await client.nextMessage() else {
                    throw HarnessError("expected")
                }
                #expect(body.action == .clientReset)
                try await client.send(.mark(session: 2, request: 1))
                #expect(try await client.nextMessage() == .mark(session: 2, request: 1))
            }
        }
    }

    @Test func aTokenIsGoodForItsLifeAndAGrace() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client)
                gateway.clock.advance(by: .seconds(1800 + 200))
                try await client.send(.ping(timestamp: 3, roundTrip: 0))
                #expect(try await client.nextMessage() == .pong(timestamp: 3))
                gateway.clock.advance(by: .seconds(200))
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func aLogoutClosesTheSocketsOfThatLogin() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await Self.open(&client)
                _ = try await gateway.request("DELETE", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
                try await client.expects(.close(4001))
            }
        }
    }

    @Test func resetOutcomesGoToTheCoordinator() async throws {
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            let path = "\(GatewayHarness.app)/sync/reset-outcomes"
            let report =
                #"{"attempt":"a1","realm":{"app":"tasks","partition":"\"tasks\""},"identOld":5,"identNew":9,"modeRequested":"recover","modeUsed":"recover","result":"recovered","changesets":{"unsynced":2,"recovered":2,"emptied":0,"discarded":0},"backupFile":"/home/ann/x.realm","at":5}"#
            #expect(try await gateway.request("POST", path, body: report, bearer: tokens.access).status == 204)
            #expect(try await gateway.request("POST", path, body: "[\(report)]", bearer: tokens.access).status == 204)
            #expect(try await gateway.request("POST", path, body: report).status == 401)
            #expect(try await gateway.request("POST", path, body: "{}", bearer: tokens.access).status == 400)
            try await eventually("the coordinator hears of it") { await gateway.owner?.outcomes.count == 2 }
            let outcome = try #require(await gateway.owner?.outcomes.first).decode(OutcomeReport.self)
            #expect(outcome.user == tokens.user)
            #expect(outcome.evidence == .client)
            #expect(outcome.campaign == nil)
            #expect(outcome.backupFile == "x.realm")
            #expect(outcome.result == .recovered)
        }
    }

    @Test func aShutdownTellsClientsToComeBack() async throws {
        let waiting = Mutex<Task<Void, any Error>?>(nil)
        try await GatewayHarness.with(broker: true) { gateway in
            let tokens = try await gateway.logInAnonymously()
            let port = gateway.port
            let (signal, done) = AsyncStream<Void>.makeStream()
            // Outlives the body on purpose: what it checks happens while the gateway stops.
            let client = Task {
                try await SyncClient.with(port: port, token: tokens.access) { client in
                    _ = try await Self.open(&client)
                    done.yield()
                    guard case .jsonError(0, .connectionClosed, let body) = try await client.nextMessage() else {
                        throw HarnessError("expected 100")
                    }
                    #expect(body.action == .transient)
                    #expect(body.tryAgain)
                    try await client.expects(.end)
                }
            }
            for await _ in signal { break }
            waiting.withLock { $0 = client }
        }
        try await waiting.withLock { $0 }?.value
    }
}
