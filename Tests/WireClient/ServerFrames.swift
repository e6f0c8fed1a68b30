import Foundation

/// Cuts what a server sends into its answer to the upgrade and WebSocket frames, as strictly as a stock client.
package struct ServerFrames {
    package enum Event: Sendable, Equatable {
        case message([UInt8])
        case close(code: UInt16, reason: String)
        /// The TCP connection is gone.
        case end
    }

    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ bytes: [UInt8]) { buffer += bytes }

    /// The answer to the upgrade, once all of its head has come.
    package mutating func takeAnswer() -> HTTPAnswerHead? {
        guard let (head, length) = HTTPAnswerHead.parse(buffer) else { return nil }
        start = length
        return head
    }

    /// The next whole frame. A stock client refuses masked frames, reserved bits and, from this server, fragments.
    package mutating func next() -> Event? {
        let available = buffer.count - start
        guard available >= 2 else { return nil }
        guard buffer[start] & 0xF0 == 0x80, buffer[start + 1] & 0x80 == 0 else {
            consume(available)
            return .close(code: 0, reason: "the server sent a fragment, reserved bits or a masked frame")
        }
        var header = 2
        var length = Int(buffer[start + 1] & 0x7F)
        if length >= 126 {
            let count = length == 126 ? 2 : 8
            guard available >= 2 + count else { return nil }
            length = buffer[(start + 2)..<(start + 2 + count)].reduce(0) { $0 << 8 | Int($1) }
            header += count
        }
        guard available >= header + length else { return nil }
        let payload = Array(buffer[(start + header)..<(start + header + length)])
        let opcode = buffer[start] & 0x0F
        consume(header + length)
        switch opcode {
        case 2: return .message(payload)
        case 8:
            let code = payload.count < 2 ? 1005 : UInt16(payload[0]) << 8 | UInt16(payload[1])
            return .close(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
        default: return .close(code: 0, reason: "the server sent a frame of kind \(opcode)")
        }
    }

    private mutating func consume(_ count: Int) {
        start += count
        guard start == buffer.count || start > 1 << 20 else { return }
        buffer.removeFirst(start)
        start = 0
    }
}

/// Status and headers of an HTTP answer.
package struct HTTPAnswerHead: Sendable {
    package var status: Int
    /// Names in lower case.
    package var headers: [String: String]

    /// Reads the head at the beginning of `bytes`; nil until all of it has come.
    ///
    /// - Returns: the head, and how many bytes it took with the empty line behind it.
    package static func parse(_ bytes: [UInt8]) -> (head: HTTPAnswerHead, length: Int)? {
        guard let end = bytes.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (HTTPAnswerHead(status: status ?? 0, headers: headers), end.upperBound)
    }
}
