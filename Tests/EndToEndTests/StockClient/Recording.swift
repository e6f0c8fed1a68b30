import Foundation

/// What a stock client and its server were recorded to say: the folder that `SLUICE_VECTORS` names, else the fixtures.
struct Recording {
    struct Message {
        var connection: Int
        var isFromClient: Bool
        var head: String
        var body: [UInt8]

        var bytes: [UInt8] { Array(head.utf8) + [0x0A] + body }
        /// The head's tokens.
        var words: [String] { head.split(separator: " ").map(String.init) }
        var kind: String { words.first ?? "" }
    }

    enum Line {
        case message(Message)
        /// The client's upgrade request, as text.
        case upgrade(connection: Int, request: String)
        case upgraded(connection: Int, answer: String)
        case ended(connection: Int)
        /// The client's process ended.
        case quit(client: String)
        case http([String: Any])
    }

    let name: String
    let lines: [Line]

    init(_ name: String) throws {
        self.name = name
        let text = try String(contentsOf: Self.folder.appending(path: "\(name).ndjson"), encoding: .utf8)
        lines = try text.split(separator: "\n").compactMap { text in
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
            return Self.line(object as? [String: Any] ?? [:])
        }
    }

    /// The numbers of the lines whose message begins so.
    func index(of head: String, from client: Bool = true, after start: Int = 0) throws -> Int {
        let found = lines.indices.dropFirst(start).first { index in
            guard case .message(let message) = lines[index] else { return false }
            return message.isFromClient == client && message.head.hasPrefix(head)
        }
        guard let found else { throw StockClientError("\(name) has no message \(head)") }
        return found
    }

    private static let folder: URL = {
        let configured = ProcessInfo.processInfo.environment["SLUICE_VECTORS"].flatMap { $0.isEmpty ? nil : $0 }
        let root =
            configured.map { URL(filePath: $0) }
            ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures")
        return root.appending(path: "transcripts")
    }()

    private static func line(_ object: [String: Any]) -> Line? {
        let connection = object["connection"] as? Int ?? 0
        let isFromClient = object["from"] as? String == "client"
        switch object["kind"] as? String {
        case "message":
            let body =
                (object["body_base64"] as? String).flatMap { Data(base64Encoded: $0) }
                ?? Data((object["body"] as? String ?? "").utf8)
            return .message(
                Message(
                    connection: connection, isFromClient: isFromClient, head: object["head"] as? String ?? "",
                    body: [UInt8](body)))
        case "http":
            let text = object["text"] as? String ?? ""
            guard text.lowercased().contains("sec-websocket") else { return nil }
            return isFromClient
                ? .upgrade(connection: connection, request: text) : .upgraded(connection: connection, answer: text)
        case "close", "eof": return .ended(connection: connection)
        case "http-request", "http-response": return .http(object)
        case "client-event":
            guard let event = object["event"] as? [String: Any], event["event"] as? String == "process-exit",
                let client = object["client"] as? String
            else { return nil }
            return .quit(client: client)
        default: return nil
        }
    }
}
