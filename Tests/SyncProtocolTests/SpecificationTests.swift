import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// Annotated exchanges with exact sizes and every kind of message; docs/protocol.md, "Examples", has some of them.
@Suite struct SpecificationTests {
    struct Exchange: Sendable, CustomTestStringConvertible {
        let name: String
        let mode: SyncMode
        /// What the server has on record for the client realm.
        var recorded = UploadCursor()
        /// `C>` or `S>`, a head, `⏎`, a body in which `⟨n⟩` stands for n bytes of changeset.
        let lines: [String]

        var testDescription: String { name }
    }

    @Test(arguments: exchanges)
    func everyLineIsReadAndWrittenBackByteForByte(_ exchange: Exchange) throws {
        let encoder = MessageEncoder(mode: exchange.mode)
        for line in exchange.lines {
            let bytes = Self.bytes(of: line)
            if line.hasPrefix("C>") {
                let message = try ClientMessageParser(mode: exchange.mode).parse(bytes)
                try expectEqual(encoder.encode(message), bytes, "\(line)")
            } else {
                let message = try ServerMessageParser(mode: exchange.mode).parse(bytes)
                try expectEqual(encoder.encode(message), bytes, "\(line)")
            }
        }
    }

    @Test(arguments: exchanges)
    func everyExchangePassesTheCheckersOfBothSides(_ exchange: Exchange) throws {
        var server = ServerConnectionChecker(mode: exchange.mode)
        var client = ClientConnectionChecker(mode: exchange.mode)
        for line in exchange.lines {
            let bytes = Self.bytes(of: line)
            if line.hasPrefix("C>") {
                let message = try ClientMessageParser(mode: exchange.mode).parse(bytes)
                if case .ident(let ident) = message {
                    try client.sendIdent(ident, upload: exchange.recorded, newestClientVersion: 100)
                } else {
                    try client.send(message)
                }
                let verdict = server.receive(message)
                if case .fail(let error) = verdict { Issue.record("\(line): \(error)") }
                if case .ident = message, let session = message.session {
                    server.identified(session, upload: exchange.recorded)
                }
            } else {
                let message = try ServerMessageParser(mode: exchange.mode).parse(bytes)
                #expect(throws: Never.self, "\(line)") { try server.send(message) }
                #expect(throws: Never.self, "\(line)") { try client.receive(message) }
            }
        }
    }

    private static func bytes(of line: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var count: String?
        for character in line.dropFirst(3) {
            switch character {
            case "⏎": bytes.append(0x0A)
            case "⟨": count = ""
            case "⟩":
                bytes.append(contentsOf: [UInt8](repeating: 0x2A, count: count.flatMap { Int($0) } ?? 0))
                count = nil
            default:
                if count != nil { count?.append(character) } else { bytes.append(contentsOf: character.utf8) }
            }
        }
        return bytes
    }

    static let exchanges = [
        Exchange(
            name: "13.1 and 13.3, first connect and upload", mode: .partition,
            lines: [
                "C> bind 1 10 0 1 0⏎\"store-nw\"",
                "S> log_message 0 20⏎{\"co_id\":\"c0ffee01\"}",
                "S> ident 1 5 8129345609812345⏎",
                "C> ident 1 5 8129345609812345 0 0 0 0⏎",
                "C> mark 1 1⏎",
                "S> download 1 2 0 2 77120045 0 0 0 0 110 0⏎"
                    + "1 0 364953000000 1 31 31 ⟨31⟩2 0 364953000000 1 29 29 ⟨29⟩",
                "S> mark 1 1⏎",
                "C> upload 1 0 0 0 4 2 2⏎",
                "C> upload 1 0 51 0 7 2 2⏎7 2 364953600000 0 29 ⟨29⟩",
                "S> download 1 3 7 3 77120045 7 2 0 0 0 0⏎",
                "C> ping 904412 0⏎",
                "S> pong 904412⏎",
            ]),
        Exchange(
            name: "13.2, resume", mode: .partition,
            recorded: UploadCursor(clientVersion: 4, serverVersion: 2),
            lines: [
                "C> bind 1 10 0 0 0⏎\"store-nw\"",
                "C> ident 1 5 8129345609812345 2 0 2 77120045⏎",
                "C> mark 1 1⏎",
                "S> download 1 2 0 2 77120045 4 2 0 0 0 0⏎",
                "S> mark 1 1⏎",
            ]),
        Exchange(
            name: "13.4 to 13.6, flexible", mode: .flexible,
            lines: [
                "C> bind 1 37 0 1 0⏎{\"schemaVersion\":0,\"sessionReason\":0}",
                "S> ident 1 9 5550123⏎",
                "C> ident 1 9 5550123 0 0 0 0 0 2⏎{}",
                "C> mark 1 1⏎",
                "S> download 1 31 0 31 889901 0 0 0 1 1 0 57 0⏎31 0 364953000000 1 31 31 ⟨31⟩",
                "S> mark 1 1⏎",
                "C> query 1 1 27⏎{\"Dog\":\"(name == \\\"Rex\\\")\"}",
                "C> mark 1 2⏎",
                "S> download 1 31 0 31 889901 0 0 1 0 0.5 0 55 0⏎31 0 364953000000 1 29 29 ⟨29⟩",
                "S> download 1 31 0 31 889901 0 0 1 1 1 0 55 0⏎31 0 364953000000 1 29 29 ⟨29⟩",
                "S> mark 1 2⏎",
                "C> upload 1 0 0 0 9 31 31⏎",
                "C> query 1 2 20⏎{\"Dog\":\"(agee > 3)\"}",
                "C> mark 1 3⏎",
                "S> query_error 226 40 1 2⏎no queryable field \"agee\" on class \"Dog\"",
                "S> mark 1 3⏎",
                "C> upload 1 0 53 0 12 31 31⏎12 31 364953690000 0 29 ⟨29⟩",
                "S> json_error 231 345 1⏎{\"action\":\"Warning\",\"compensatingWriteServerVersion\":41,"
                    + "\"isRecoveryModeDisabled\":false,\"logURL\":\"\",\"message\":\"1 write was reverted\","
                    + "\"rejectedClientVersion\":12,\"rejectedUpdates\":[{\"pk\":\"AQk=\",\"reason\":"
                    + "\"write to 9 in table \\\"Dog\\\" not allowed; object is outside of the current query view\","
                    + "\"table\":\"Dog\"}],\"shouldClientReset\":false,\"tryAgain\":true}",
                "S> download 1 41 12 41 889901 12 31 1 2 1 0 37 0⏎41 12 364953700000 1 10 10 ⟨10⟩",
            ]),
        Exchange(
            name: "13.7, client reset", mode: .flexible,
            lines: [
                "C> bind 1 37 0 0 0⏎{\"schemaVersion\":0,\"sessionReason\":0}",
                "C> ident 1 9 5550123 41 12 41 889901 1 27⏎{\"Dog\":\"(name == \\\"Rex\\\")\"}",
                "S> json_error 208 141 1⏎{\"action\":\"ClientReset\",\"isRecoveryModeDisabled\":false,"
                    + "\"logURL\":\"\",\"message\":\"sync was terminated\",\"shouldClientReset\":true,"
                    + "\"tryAgain\":false}",
                "C> unbind 1⏎",
                "C> bind 2 37 0 1 0⏎{\"schemaVersion\":0,\"sessionReason\":1}",
                "S> ident 2 14 7771001⏎",
                "C> ident 2 14 7771001 0 0 0 0 0 2⏎{}",
                "C> mark 2 1⏎",
                "S> download 2 52 0 52 889955 0 0 0 1 1 0 57 0⏎52 0 364953000000 1 31 31 ⟨31⟩",
                "S> mark 2 1⏎",
                "C> query 2 1 27⏎{\"Dog\":\"(name == \\\"Rex\\\")\"}",
                "C> mark 2 2⏎",
                "S> download 2 52 0 52 889955 0 0 1 1 1 0 55 0⏎52 0 364953000000 1 29 29 ⟨29⟩",
                "S> mark 2 2⏎",
                "C> unbind 2⏎",
                "S> unbound 2⏎",
                "C> bind 3 37 0 0 0⏎{\"schemaVersion\":0,\"sessionReason\":1}",
                "C> ident 3 14 7771001 52 0 52 889955 1 27⏎{\"Dog\":\"(name == \\\"Rex\\\")\"}",
                "C> mark 3 2⏎",
                "C> upload 3 0 53 0 88 52 52⏎88 52 364953690000 0 29 ⟨29⟩",
                "S> download 3 53 88 53 889955 88 52 1 2 1 0 0 0⏎",
                "S> mark 3 2⏎",
            ]),
        Exchange(
            name: "13.9 and 13.10, suspended and bound again, then a bootstrap of the set in force", mode: .flexible,
            recorded: UploadCursor(clientVersion: 12, serverVersion: 31),
            lines: [
                "C> bind 1 37 0 0 0⏎{\"schemaVersion\":0,\"sessionReason\":0}",
                "S> json_error 229 218 1⏎{\"action\":\"Transient\",\"backoffIntervalSec\":5,"
                    + "\"backoffMaxDelaySec\":60,\"backoffMultiplier\":2,\"isRecoveryModeDisabled\":false,"
                    + "\"logURL\":\"\",\"message\":\"initial sync is still running\","
                    + "\"shouldClientReset\":false,\"tryAgain\":true}",
                "C> unbind 1⏎",
                "C> bind 1 37 0 0 0⏎{\"schemaVersion\":0,\"sessionReason\":0}",
                "S> json_error 200 139 1⏎{\"action\":\"Transient\",\"isRecoveryModeDisabled\":false,"
                    + "\"logURL\":\"\",\"message\":\"permissions changed\",\"shouldClientReset\":false,"
                    + "\"tryAgain\":true}",
                "C> unbind 1⏎",
                "C> bind 1 37 0 0 0⏎{\"schemaVersion\":0,\"sessionReason\":0}",
                "C> ident 1 9 5550123 41 12 41 889901 1 27⏎{\"Dog\":\"(name == \\\"Rex\\\")\"}",
                "S> download 1 60 12 60 889960 12 31 1 1 1 0 37 0⏎60 12 364953000000 1 10 10 ⟨10⟩",
            ]),
    ]
}
