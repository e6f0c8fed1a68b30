import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import WireClient

extension SharedClusterTests {
    /// Clients that break the rules, and the ones beside them on the same realm that must not notice.
    @MainActor @Suite struct StockClientHostileTests {
        @Test func brokenMessagesCostTheirConnectionAndNobodyElse() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let user = try await StockUser(cluster)
            let broken: [(message: String, codes: Set<Int>)] = [
                ("garbage", [102]), ("", [102]), ("\u{0}\u{0}\u{0}\u{0}", [102]), ("frobnicate 1\n", [102]),
                ("bind 1 7 0 1\n\"tasks\"", [103]), ("bind 1 9999999 0 1 0\n\"tasks\"", [103, 101]),
                ("bind 99999999999999999999 7 0 1 0\n\"tasks\"", [103]), ("bind -1 7 0 1 0\n\"tasks\"", [103]),
                ("ident 7 2 3 0 0 0 0\n", [106]), ("mark 7 1\n", [106]), ("upload 7 0 0 0 2 0 0\n", [106]),
                ("unbind 7\n", [106]), ("upload 1 0 5 0 2 0 0\n2 0 1", [110, 111, 112, 103]),
            ]
            for (message, codes) in broken {
                let connection = try await user.connect()
                try await connection.socket.send(Array(message.utf8))
                try await connection.wait("an error answers \(message.debugDescription)", mayEnd: true) {
                    $0.connectionError != nil && $0.isEnded
                }
                expectTrue(codes.contains(connection.connectionError?.code ?? 0), "\(message.debugDescription)")
            }
            try await witness.sync("after broken messages")
        }

        @Test func brokenFramesEndTheSocket() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let user = try await StockUser(cluster)
            let ping = Array("ping 1 0\n".utf8)
            let broken: [(frame: [UInt8], code: UInt16)] = [
                (ClientFrame.bytes(ping, isMasked: false), 1002), (ClientFrame.bytes(ping, reserved: 0x40), 1002),
                (ClientFrame.bytes(ping, opcode: 1), 1003), (ClientFrame.bytes(ping, opcode: 0), 1002),
                (ClientFrame.bytes(ping, opcode: 5), 1002),
                ([0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 12), 1009),
            ]
            for (frame, code) in broken {
                let connection = try await user.connect()
                try await connection.socket.sendRaw(frame)
                try await connection.wait("close \(code)", mayEnd: true) { $0.closeCode != nil && $0.isEnded }
                expectEqual(connection.closeCode, code)
            }
            // Half a frame, then nothing: no one waits for the rest.
            let half = try await user.connect()
            try await half.socket.sendRaw(Array(ClientFrame.bytes(ping).prefix(4)))
            await half.close()
            try await witness.sync("after broken frames")
        }

        @Test func messagesOutOfTurnAreProtocolViolations() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let user = try await StockUser(cluster)
            let bind = "bind 1 7 0 1 0\n\"tasks\""
            let cases: [([String], Int)] = [
                ([bind, "upload 1 0 0 0 2 0 0\n"], 109), ([bind, "mark 1 1\n"], 109), ([bind, bind], 107),
                ([bind, "unbind 1\n", "mark 1 1\n"], 106),
            ]
            for (messages, code) in cases {
                let connection = try await user.connect()
                for message in messages { try await connection.socket.send(Array(message.utf8)) }
                // The model of a client knows nothing of what the test sent past it: only the raw answers count.
                let error = try await Self.connectionError(connection)
                // An UNBIND may have been answered before what follows it came: then the session is unknown.
                expectTrue(error == code || (error == 109 && code == 106), "\(messages)")
            }
            try await witness.sync("after messages out of turn")
        }

        @Test func identsThatDoNotHoldAreToldToReset() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let user = try await StockUser(cluster)
            let honest = try await user.connect()
            let other = try #require(witness.file.identity)

            /// The errors that an IDENT with a change gets, and after it the right one: each from a connection of its own.
            @MainActor func errors(
                _ change: (StockFile) -> Void
            ) async throws -> [StockConnection.ReceivedError?] {
                let file = StockFile()
                let session = try await honest.open(StockScenario.path, file)
                try await honest.download(session)
                try await honest.send(.unbind(session: session))
                let (identity, progress) = (file.identity, file.progress)
                change(file)
                var errors: [StockConnection.ReceivedError?] = []
                for _ in 0..<2 {
                    let connection = try await user.connect()
                    let session = try await connection.open(StockScenario.path, file)
                    try await connection.wait("an answer to IDENT") {
                        $0.sessions[session]?.error != nil || $0.sessions[session]?.downloads.isEmpty == false
                    }
                    await connection.close()
                    errors.append(connection.sessions[session]?.error)
                    file.identity = identity
                    file.progress = progress
                }
                return errors
            }
            @MainActor func salted(_ file: StockFile, _ ident: FileIdent?, by change: UInt64) {
                guard let identity = file.identity else { return }
                file.identity = ClientFileIdent(
                    ident: ident ?? identity.ident, salt: FileSalt(identity.salt.rawValue ^ change))
            }
            // A client that does not know the salt cannot harm the file: the right IDENT is served after it.
            let strangers: [(Int, (StockFile) -> Void)] = [
                (211, { salted($0, nil, by: 1) }), (208, { salted($0, 4_000_000, by: 0) }),
                (208, { salted($0, 1, by: 0) }), (223, { $0.identity = other }),
            ]
            for (code, change) in strangers {
                let errors = try await errors(change)
                expectReset(errors[0], code)
                expectTrue(errors[1] == nil, "after \(code)")
            }
            // The file itself, with cursors that cannot be its own: it must reset, whatever it says next.
            let confused: [(Int, (StockFile) -> Void)] = [
                (
                    209,
                    {
                        $0.progress.download.serverVersion = 1_000_000
                        $0.progress.latest.version = 1_000_000
                    }
                ),
                (209, { $0.progress.latest.version = ServerVersion($0.progress.latest.version.rawValue + 1) }),
                (210, { $0.progress.download.clientVersion = 1_000_000 }),
                (211, { $0.progress.latest.salt = VersionSalt($0.progress.latest.salt.rawValue ^ 1) }),
            ]
            for (code, change) in confused {
                let errors = try await errors(change)
                expectReset(errors[0], code)
                expectReset(errors[1], 208)
            }
            // The wrong IDENTs have cost the witness's file nothing.
            expectEqual(witness.file.identity, other)
            try await witness.sync("after idents that do not hold")
        }

        @Test func anUploadTooLargeResetsItsSessionOnly() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let connection = try await StockUser(cluster).connect()
            let large = try await connection.open(StockScenario.path, StockFile())
            let small = try await connection.open("\"elsewhere\"", StockFile())
            for session in [large, small] { try await connection.download(session) }
            let head = "upload \(large) 0 17000000 0 2 0 0\n"
            try await connection.socket.send(Array(head.utf8) + [UInt8](repeating: 0x30, count: 17_000_000))
            try await connection.wait("its session is reset") { $0.sessions[large]?.error != nil }
            expectEqual(connection.sessions[large]?.error?.body.action, .clientReset)
            try await connection.send(.unbind(session: large))
            // The socket and its other session go on.
            try await connection.download(small)
            try await connection.send(.ping(timestamp: 5, roundTrip: 0))
            try await connection.wait("PONG") { $0.pongs == [5] }
            try await witness.sync("after an upload too large")
        }

        /// A stock client that is alone on its socket knows a close code for that. It comes again before it has reset, with the same upload, and
        /// gives up at a second such code: it must hear of the reset that is on record.
        @Test func anUploadTooLargeOnASocketOfItsOwnResetsItsClientOnce() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await StockUser(cluster)
            let file = StockFile()
            var connection = try await user.connect()
            var session = try await connection.open(StockScenario.path, file)
            try await connection.download(session)
            func upload() async throws {
                let head = "upload \(session) 0 17000000 0 2 0 0\n"
                try await connection.socket.send(Array(head.utf8) + [UInt8](repeating: 0x30, count: 17_000_000))
            }
            try await upload()
            try await connection.wait("close 1009", mayEnd: true) { $0.closeCode != nil && $0.isEnded }
            expectTrue(connection.closeCode == 1009 && connection.sessions[session]?.error == nil)
            connection = try await user.connect()
            session = try await connection.open(StockScenario.path, file)
            try await upload()
            try await connection.wait("the session is reset") { $0.sessions[session]?.error != nil }
            // The upload may come before the answer to the IDENT: then the error has the upload's code. Clients go by the action.
            let error = connection.sessions[session]?.error
            expectReset(error, error?.code == 201 ? 201 : 208)
            expectTrue(connection.closeCode == nil)
        }

        @Test func aChangesetThatDoesNotParseResetsItsClientOnly() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let witness = try await Witness(cluster)
            let connection = try await StockUser(cluster).connect()
            let session = try await connection.open(StockScenario.path, StockFile())
            try await connection.download(session)
            let file = try #require(connection.sessions[session]?.file)
            try await connection.send(.upload([0x3E, 0xFF, 0x00], version: 2, session: session, file: file))
            try await connection.wait("the session ends in an error") { $0.sessions[session]?.error != nil }
            let error = connection.sessions[session]?.error
            expectEqual(error?.code, 212)
            expectEqual(error?.body.action, .clientReset)
            try await connection.send(.unbind(session: session))
            try await witness.sync("after a changeset that does not parse")
        }

        private func expectReset(_ error: StockConnection.ReceivedError?, _ code: Int) {
            expectEqual(error?.code, code)
            expectEqual(error?.body.action, .clientReset, "\(code)")
            expectEqual(error?.body.tryAgain, false, "\(code)")
            expectEqual(error?.body.shouldClientReset, true, "\(code)")
        }

        /// The code of the JSON_ERROR that ends a connection, whatever else comes before it.
        @MainActor
        private static func connectionError(_ connection: StockConnection) async throws -> Int {
            var messages: [[UInt8]] = []
            return try await StockClientError.within("an error of the connection") {
                for case .message(let bytes) in await connection.socket.takeEvents() { messages.append(bytes) }
                for bytes in messages {
                    guard
                        case .jsonError(let session, let code, _) = try ServerMessageParser(mode: .partition).parse(
                            bytes)
                    else { continue }
                    if session.isConnection { return code.rawValue }
                }
                return nil
            }
        }
    }
}

/// Two honest clients of the realm: what one writes, the other gets, whatever happens beside them.
@MainActor
private final class Witness {
    let file: StockFile
    private let writer: StockConnection
    private let reader: StockConnection
    private let readerFile: StockFile

    init(_ cluster: LocalCluster) async throws {
        let (player, _) = try await StockScenario.firstConnect(cluster)
        writer = try StockScenario.connection(player, 4)
        file = try StockScenario.file(player, 2)
        reader = try StockScenario.connection(player, 8)
        readerFile = try StockScenario.file(player, 3)
    }

    func sync(_ id: String) async throws {
        try await writer.upload(StockScenario.task(id), 1)
        try await reader.wait("the other client gets it") { _ in self.readerFile.image.has("Task", id) }
        try await writer.download(1)
        try await reader.download(1)
    }
}
