/// Writes the binary form: unsigned LEB128 numbers, length-prefixed bytes.
package struct WireWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func number(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    package mutating func blob(_ value: [UInt8]) {
        number(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads the binary form; every length is checked against what remains before anything is allocated.
package struct WireReader {
    private let bytes: [UInt8]
    private var position = 0
    private let messageType: String

    package init(_ bytes: [UInt8], messageType: String) {
        self.bytes = bytes
        self.messageType = messageType
    }

    package var remaining: Int { bytes.count - position }

    private func failure(_ reason: String) -> MessageError {
        MessageError(messageType: messageType, reason: "\(reason) at byte \(position) of \(bytes.count)")
    }

    package mutating func byte() throws(MessageError) -> UInt8 {
        guard position < bytes.count else { throw failure("body ends early") }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func number() throws(MessageError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let byte = try byte()
            let bits = UInt64(byte & 0x7f)
            guard shift < 63 || bits <= 1 else { throw failure("number too large") }
            value |= bits << UInt64(shift)
            if byte & 0x80 == 0 { return value }
        }
        throw failure("number too long")
    }

    /// A count of things that take at least `minimumSize` bytes each, so that a lie cannot reserve memory.
    package mutating func count(minimumSize: Int = 1) throws(MessageError) -> Int {
        let value = try number()
        guard value <= UInt64(remaining / max(minimumSize, 1)) else { throw failure("count \(value) is too large") }
        return Int(value)
    }

    package mutating func blob() throws(MessageError) -> [UInt8] {
        let count = try count()
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    package mutating func text() throws(MessageError) -> String { String(decoding: try blob(), as: UTF8.self) }

    package func finish() throws(MessageError) {
        guard remaining == 0 else { throw failure("\(remaining) bytes too many") }
    }
}
