import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// Recorded messages of stock clients and of the servers they spoke to.
@Suite struct TranscriptTests {
    @Test func thereAreRecordings() {
        expectTrue(Transcript.all.count >= 6)
        expectTrue(Transcript.all.map(\.messages.count).reduce(0, +) > 60)
    }

    @Test(arguments: Transcript.all)
    func everyMessageIsReadAndWrittenBackByteForByte(_ transcript: Transcript) throws {
        for message in transcript.messages {
            let mode = transcript.mode(of: message)
            let encoder = MessageEncoder(mode: mode)
            if message.isFromClient {
                let parsed = try ClientMessageParser(mode: mode).parse(message.bytes)
                try expectEqual(encoder.encode(parsed), message.bytes, "\(message.testDescription)")
            } else if message.isMissingAKey {
                #expect(throws: SyncProtocolError.self) { try ServerMessageParser(mode: mode).parse(message.bytes) }
            } else {
                let parsed = try ServerMessageParser(mode: mode).parse(message.bytes)
                let written = try encoder.encode(parsed)
                if message.hasAnUnknownKey {
                    // Read all the same; the key is not kept.
                    try expectEqual(ServerMessageParser(mode: mode).parse(written), parsed)
                } else {
                    expectEqual(written, message.bytes, "\(message.testDescription)")
                }
            }
        }
    }

    @Test(arguments: Transcript.all)
    func everyUpgradeIsNegotiatedAsRecorded(_ transcript: Transcript) throws {
        var offers: [Int: NegotiatedProtocol] = [:]
        for line in transcript.lines {
            switch line {
            case .upgrade(let connection, let offered):
                offers[connection] = try SubprotocolNegotiation.choose(from: [offered])
            case .upgraded(let connection, 101, let answered):
                let negotiated = try #require(offers[connection])
                expectEqual(negotiated.token, answered)
                try expectEqual(SubprotocolNegotiation.parseAnswer(answered, mode: negotiated.mode), negotiated.version)
            default: break
            }
        }
    }

    /// Connections recorded from their upgrade on pass all rules of order and all cursors, seen from either side.
    @Test(arguments: Transcript.all)
    func everyWholeConnectionPassesTheCheckersOfBothSides(_ transcript: Transcript) throws {
        var servers: [Int: ServerConnectionChecker] = [:]
        var clients: [Int: ClientConnectionChecker] = [:]
        for line in transcript.lines {
            switch line {
            case .upgrade(let connection, let offered):
                let mode = try SubprotocolNegotiation.choose(from: [offered]).mode
                servers[connection] = ServerConnectionChecker(mode: mode)
                clients[connection] = ClientConnectionChecker(mode: mode)
            case .upgraded, .ended: break
            case .message(let message):
                guard var server = servers[message.connection], var client = clients[message.connection],
                    !message.isMissingAKey
                else { continue }
                if message.isFromClient {
                    let parsed = try ClientMessageParser(mode: server.mode).parse(message.bytes)
                    let verdict = server.receive(parsed)
                    if case .fail(let error) = verdict { Issue.record("\(message.testDescription): \(error)") }
                    servers[message.connection] = server
                    // Written before the client read an error, of which its own checker knows already.
                    if verdict == .ignore { continue }
                    if case .ident(let ident) = parsed {
                        try client.sendIdent(ident, upload: UploadCursor(), newestClientVersion: nil)
                    } else {
                        try client.send(parsed)
                    }
                } else {
                    let parsed = try ServerMessageParser(mode: server.mode).parse(message.bytes)
                    #expect(throws: Never.self, "\(message.testDescription)") { try server.send(parsed) }
                    #expect(throws: Never.self, "\(message.testDescription)") { try client.receive(parsed) }
                }
                servers[message.connection] = server
                clients[message.connection] = client
            }
        }
    }
}

extension Transcript {
    /// Migration recordings speak both modes, each connection one.
    func mode(of message: Message) -> SyncMode {
        for line in lines {
            if case .upgrade(let connection, let offered) = line, connection == message.connection {
                return offered.contains("realm-query-sync#") ? .flexible : .partition
            }
        }
        return mode
    }
}

extension Transcript.Message {
    private var text: String { String(decoding: bytes, as: UTF8.self) }
    var isMissingAKey: Bool { text.contains("logURL is missing") }
    var hasAnUnknownKey: Bool { text.contains("unknownKey") }
}
