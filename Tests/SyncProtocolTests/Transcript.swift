import Foundation
import SyncModel
import Testing

@testable import SyncProtocol

/// Recorded traffic: the whole set where SLUICE_VECTORS says, else the few files of the fixtures.
struct Transcript: Sendable, CustomTestStringConvertible {
    struct Message: Sendable, CustomTestStringConvertible {
        let connection: Int
        let isFromClient: Bool
        let bytes: [UInt8]

        var head: String { String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self) }
        var testDescription: String { "\(isFromClient ? "C>" : "S>") \(head)" }
    }

    enum Line: Sendable {
        case message(Message)
        /// An upgrade: what `Sec-WebSocket-Protocol` said, and in the answer.
        case upgrade(connection: Int, offered: String)
        case upgraded(connection: Int, status: Int, answered: String?)
        case ended(connection: Int)
    }

    let name: String
    let mode: SyncMode
    let lines: [Line]

    var testDescription: String { name }

    var messages: [Message] {
        lines.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    static let all: [Transcript] = {
        let folder =
            ProcessInfo.processInfo.environment["SLUICE_VECTORS"].map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures")
        let transcripts = folder.appendingPathComponent("transcripts")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: transcripts.path)) ?? []
        return names.filter { $0.hasSuffix(".ndjson") }.sorted().compactMap { name in
            guard let text = try? String(contentsOf: transcripts.appendingPathComponent(name), encoding: .utf8) else {
                return nil
            }
            return Transcript(name: name, text: text)
        }
    }()

    private init(name: String, text: String) {
        self.name = name
        mode = name.hasPrefix("flx-") || name.hasSuffix("-flx.ndjson") ? .flexible : .partition
        lines = text.split(separator: "\n").compactMap { Self.line(String($0)) }
    }

    private static func line(_ text: String) -> Line? {
        guard let object = try? JSONParser.parse(text).objectValue else { return nil }
        let connection = Int(object["connection"]?.integerValue ?? 0)
        let isFromClient = object["from"]?.stringValue == "client"
        switch object["kind"]?.stringValue {
        case "message":
            guard let head = object["head"]?.stringValue else { return nil }
            let body =
                object["body"]?.stringValue.map { Array($0.utf8) }
                ?? object["body_base64"]?.stringValue.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } ?? []
            return .message(
                Message(
                    connection: connection, isFromClient: isFromClient, bytes: Array(head.utf8) + [0x0A] + body))
        case "http":
            let headers = (object["text"]?.stringValue ?? "").components(separatedBy: "\r\n")
            let field = headers.first { $0.lowercased().hasPrefix("sec-websocket-protocol: ") }
            let value = field.map { String($0.dropFirst("sec-websocket-protocol: ".count)) }
            // Some recordings hold the client's other requests, too.
            if isFromClient { return value.map { .upgrade(connection: connection, offered: $0) } }
            let status = headers.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return .upgraded(connection: connection, status: status, answered: value)
        case "close", "eof": return .ended(connection: connection)
        default: return nil
        }
    }
}
