package import NIOCore
package import Operations

/// What a proxy says of a client before the client's own bytes: the PROXY protocol, versions 1 and 2.
package struct ProxyHeader: Equatable {
    /// Nil where the proxy speaks for itself (`LOCAL`), or does not know (`UNKNOWN`): the connection's own peer counts.
    package var source: IPAddress?
    /// Bytes that it takes.
    package var length: Int

    package struct Malformed: Error, Equatable { package var reason: String }

    /// The longest header of version 1, and what one of version 2 may have with its additional values.
    static let maxBytes = 4096
    private static let maxLine = 107
    private static let word = Array("PROXY ".utf8)
    private static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]

    /// Reads the header at the beginning of the bytes; nil if there are too few of them yet.
    package static func read(_ bytes: ByteBufferView) throws(Malformed) -> ProxyHeader? {
        if begins(bytes, with: signature) {
            return bytes.count < 16 ? nil : try binary(Array(bytes.prefix(16)), bytes)
        }
        if begins(bytes, with: word) { return try line(bytes) }
        throw Malformed(reason: "expected a PROXY header, version 1 or 2")
    }

    private static func begins(_ bytes: ByteBufferView, with start: [UInt8]) -> Bool {
        bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count))
    }

    private static func line(_ bytes: ByteBufferView) throws(Malformed) -> ProxyHeader? {
        let head = Array(bytes.prefix(maxLine))
        guard let end = head.firstIndex(of: 0x0a) else {
            guard head.count < maxLine else { throw Malformed(reason: "a PROXY line has at most 107 bytes") }
            return nil
        }
        guard end > 0, head[end - 1] == 0x0d else { throw Malformed(reason: "a PROXY line ends with CR and LF") }
        let words = String(decoding: head[..<(end - 1)], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        if words.count >= 2, words[1] == "UNKNOWN" { return ProxyHeader(source: nil, length: end + 1) }
        guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6", let source = IPAddress(words[2]),
            UInt16(words[4]) != nil, UInt16(words[5]) != nil
        else { throw Malformed(reason: "expected PROXY TCP4 or TCP6, two addresses and two ports") }
        return ProxyHeader(source: source, length: end + 1)
    }

    private static func binary(_ head: [UInt8], _ bytes: ByteBufferView) throws(Malformed) -> ProxyHeader? {
        guard head[12] >> 4 == 2 else { throw Malformed(reason: "a PROXY header of version \(head[12] >> 4)") }
        let length = 16 + (Int(head[14]) << 8 | Int(head[15]))
        guard length <= maxBytes else { throw Malformed(reason: "a PROXY header of \(length) bytes") }
        guard bytes.count >= length else { return nil }
        switch head[12] & 0xf {
        case 0: return ProxyHeader(source: nil, length: length)
        case 1: break
        case let command: throw Malformed(reason: "an unknown PROXY command \(command)")
        }
        // The transport's half: 1 is a stream. The family's: 1 and 2 are the internet's, others have no address for us.
        let size = [0x11: 4, 0x21: 16][head[13]]
        guard let size else { return ProxyHeader(source: nil, length: length) }
        guard length >= 16 + 2 * size + 4, let source = IPAddress(bytes: Array(bytes.dropFirst(16).prefix(size))) else {
            throw Malformed(reason: "a PROXY header that is too short for its addresses")
        }
        return ProxyHeader(source: source, length: length)
    }
}
