import SyncModel

/// Reads the tokens of a head or an entry header: ASCII, one separator, nothing left to chance.
struct HeadReader {
    static let space = UInt8(ascii: " ")
    static let lineFeed = UInt8(ascii: "\n")

    let bytes: [UInt8]
    private(set) var index = 0
    /// The code of whatever goes wrong here.
    private let code: ErrorCode
    private let subject: String

    init(_ bytes: [UInt8], code: ErrorCode = .badSyntax, subject: String = "message") {
        self.bytes = bytes
        self.code = code
        self.subject = subject
    }

    private var end: Int { bytes.count }
    var isAtEnd: Bool { index >= end }
    var remaining: Int { end - index }

    /// The error for a message of which `word` finds no type, or of a type that its direction and mode do not have.
    static var unknown: SyncProtocolError {
        SyncProtocolError(.unknownMessage, "message: expected a known type and a space")
    }

    func error(_ message: String) -> SyncProtocolError { SyncProtocolError(code, "\(subject): \(message)") }

    /// The message's type: lower-case letters and underscores, then a space.
    mutating func word() -> String? {
        let start = index
        while index < end, index - start <= 20, bytes[index] != Self.space, bytes[index] != Self.lineFeed { index += 1 }
        guard index < end, bytes[index] == Self.space, index > start, index - start <= 20 else { return nil }
        let word = bytes[start..<index]
        guard word.allSatisfy({ ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x5F }) else { return nil }
        index += 1
        return String(decoding: word, as: UTF8.self)
    }

    /// A number of up to 63 bits and the separator after it.
    mutating func number(_ name: StaticString, _ separator: UInt8 = space) throws(SyncProtocolError) -> UInt64 {
        let start = index
        var value: UInt64 = 0
        while index < end, bytes[index] >= 0x30, bytes[index] <= 0x39 {
            // Longer than any 63-bit number: stop before a run of zeros makes it slow.
            guard index - start < 20 else { throw error("\(name) is too long a number") }
            let (tens, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = tens.addingReportingOverflow(UInt64(bytes[index] - 0x30))
            guard !first, !second, sum <= WireIntegerBounds.maximum else { throw error("\(name) exceeds 63 bits") }
            value = sum
            index += 1
        }
        guard index > start else { throw error("\(name): expected a number") }
        try take(separator, after: name)
        return value
    }

    mutating func integer<Value: WireInteger>(
        _ name: StaticString, _ separator: UInt8 = space
    ) throws(SyncProtocolError) -> Value {
        Value(rawValue: try number(name, separator))
    }

    /// Reads a number that starts at 1: a session ident, a file ident, a salt.
    mutating func nonZero<Value: WireInteger>(
        _ name: StaticString, _ separator: UInt8 = space
    ) throws(SyncProtocolError) -> Value {
        let value = try number(name, separator)
        guard value > 0 else { throw error("\(name) must not be 0") }
        return Value(rawValue: value)
    }

    /// 0 is false, any other number true.
    mutating func bool(_ name: StaticString, _ separator: UInt8 = space) throws(SyncProtocolError) -> Bool {
        try number(name, separator) != 0
    }

    /// A number that counts bytes of this message.
    mutating func size(_ name: StaticString, _ separator: UInt8 = space) throws(SyncProtocolError) -> Int {
        let value = try number(name, separator)
        guard let size = Int(exactly: value) else { throw error("\(name) is too large") }
        return size
    }

    /// A decimal from 0 to 1. Peers print it with whatever formatter they have, so exponents are read, too.
    mutating func fraction(_ name: StaticString) throws(SyncProtocolError) -> Double {
        let start = index
        let allowed = Array("0123456789.eE+-".utf8)
        while index < end, allowed.contains(bytes[index]), index - start < 64 { index += 1 }
        guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)), (0...1).contains(value) else {
            throw error("\(name): expected a decimal from 0 to 1")
        }
        try take(Self.space, after: name)
        return value
    }

    private mutating func take(_ separator: UInt8, after name: StaticString) throws(SyncProtocolError) {
        guard index < end, bytes[index] == separator else {
            throw error("\(name): expected \(separator == Self.space ? "a space" : "a line feed") after it")
        }
        index += 1
    }

    mutating func raw(_ count: Int, _ name: StaticString) throws(SyncProtocolError) -> [UInt8] {
        guard count >= 0, count <= remaining else {
            throw error("\(name): \(count) bytes announced, \(remaining) there")
        }
        defer { index += count }
        return Array(bytes[index..<index + count])
    }

    mutating func text(_ count: Int, _ name: StaticString) throws(SyncProtocolError) -> String {
        guard let text = String(validating: try raw(count, name), as: UTF8.self) else {
            throw error("\(name): expected UTF-8")
        }
        return text
    }

    func finish() throws(SyncProtocolError) {
        guard isAtEnd else { throw error("\(remaining) bytes left over") }
    }
}
