import Foundation
import NIOCore
import SyncModel
import SyncProtocol
import Testing

@testable import Gateway

/// A stock client on the wire: one WebSocket, binary messages, nothing that the protocol does not ask for.
struct SyncClient {
    enum Received: Equatable {
        case message(ServerMessage)
        case close(UInt16)
        case end
    }

    var stream: RawSocket.Stream
    let head: String
    private let parser: ServerMessageParser
    private let encoder: MessageEncoder

    static let offers = (2...14).reversed().map { "com.mongodb.realm-sync#\($0)" }.joined(separator: ", ")

    static func request(
        app: String = "tasks", token: String, offers: String = offers, compatibilities: String? = nil
    ) -> String {
        """
        GET /api/client/v2.0/app/\(app)/realm-sync?baas_at=\(token) HTTP/1.1\r
        Host: 127.0.0.1\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Protocol: \(offers)\r\(compatibilities.map { "\nSluice-Compatibility: \($0)\r" } ?? "")
        User-Agent: RealmSync/14.14.0\r
        \r

        """
    }

    /// Opens a sync connection, which must be answered with 101.
    static func with<T: Sendable>(
        port: Int, app: String = "tasks", token: String, offers: String = offers, compatibilities: String? = nil,
        mode: SyncMode = .partition,
        _ body: (inout SyncClient) async throws -> T
    ) async throws -> T {
        try await RawSocket.with(port: port) { stream in
            try await stream.write(
                request(app: app, token: token, offers: offers, compatibilities: compatibilities))
            guard let head = try await stream.readHead() else { throw HarnessError("no answer to the upgrade") }
            guard head.hasPrefix("HTTP/1.1 101") else { throw HarnessError("upgrade answered with: \(head)") }
            var client = SyncClient(
                stream: stream, head: head, parser: ServerMessageParser(mode: mode), encoder: MessageEncoder(mode: mode)
            )
            return try await body(&client)
        }
    }

    func send(_ message: ClientMessage) async throws { try await sendBinary(try encoder.encode(message)) }
    func sendBinary(_ payload: [UInt8]) async throws { try await stream.write(Self.frame(0x82, payload)) }

    /// A client's frame: masked, whatever its first byte says.
    static func frame(_ first: UInt8, _ payload: [UInt8], length: UInt64? = nil) -> [UInt8] {
        var frame: [UInt8] = [first]
        let count = length ?? UInt64(payload.count)
        switch count {
        case 0...125: frame.append(0x80 | UInt8(count))
        case 126...0xFFFF:
            frame.append(0x80 | 126)
            frame += [UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (UInt64($0) * 8)) }
        }
        let key: [UInt8] = [0x11, 0x22, 0x33, 0x44]
        frame += key
        frame += payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
        return frame
    }

    /// The message that a connection begins with.
    mutating func greeting() async throws -> LogMessage {
        guard let frame = try await nextFrame(), frame.0 == 0x2,
            case .logMessage(let greeting) = try parser.parse(frame.1)
        else { throw HarnessError("expected a LOG_MESSAGE") }
        return greeting
    }

    /// The next message, leaving out LOG_MESSAGEs.
    mutating func next() async throws -> Received {
        while true {
            guard let (opcode, payload) = try await nextFrame() else { return .end }
            switch opcode {
            case 0x2:
                let message = try parser.parse(payload)
                if case .logMessage = message { continue }
                return .message(message)
            case 0x8: return .close(payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 0)
            default: throw HarnessError("an unexpected frame of kind \(opcode)")
            }
        }
    }

    /// Whatever else comes next is an issue of the caller.
    mutating func expects(_ expected: Received, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let received = try await next()
        #expect(received == expected, sourceLocation: sourceLocation)
    }

    mutating func nextMessage() async throws -> ServerMessage {
        guard case .message(let message) = try await next() else { throw HarnessError("expected a message") }
        return message
    }

    /// The next DOWNLOAD, leaving out what else is no error.
    mutating func nextDownload() async throws -> Download {
        while true {
            switch try await nextMessage() {
            case .download(let download): return download
            case .jsonError(let session, let code, let body):
                throw HarnessError("expected DOWNLOAD, session \(session) ended with \(code.rawValue): \(body.message)")
            default: continue
            }
        }
    }

    mutating func nextFrame() async throws -> (UInt8, [UInt8])? {
        while true {
            if let frame = readFrame() { return frame }
            guard try await stream.fill() else { return nil }
        }
    }

    private mutating func readFrame() -> (UInt8, [UInt8])? {
        var peek = stream.buffer
        guard let first: UInt8 = peek.readInteger(), let second: UInt8 = peek.readInteger() else { return nil }
        var length = Int(second & 0x7F)
        if length == 126 {
            guard let extended: UInt16 = peek.readInteger() else { return nil }
            length = Int(extended)
        } else if length == 127 {
            guard let extended: UInt64 = peek.readInteger() else { return nil }
            length = Int(extended)
        }
        guard let payload = peek.readBytes(length: length) else { return nil }
        stream.buffer = peek
        return (first & 0x0F, payload)
    }
}
