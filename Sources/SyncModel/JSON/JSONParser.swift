/// Why a text is no JSON: what was expected, and where.
package struct JSONSyntaxError: Error, Hashable {
    package enum Reason: Sendable { case syntax, nesting, repeatedKey }

    package let reason: Reason
    package let expected: String
    package let offset: Int

    package var message: String { "expected \(expected) at byte \(offset)" }
}

/// A strict RFC 8259 parser over bytes: UTF-8 checked, nesting bounded, duplicate keys refused, nothing after the value.
package struct JSONParser {
    /// Deeper than any document that Sluice reads; keeps the recursion shallow.
    static let maxDepth = 32

    private let bytes: [UInt8]
    private var index = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.expected("the end") }
        return value
    }

    package static func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue { try parse(Array(text.utf8)) }

    private func expected(_ what: String, _ reason: JSONSyntaxError.Reason = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, expected: what, offset: index)
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maxDepth else { throw expected("less nesting", .nesting) }
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in word.description.utf8 where !take(byte) { throw expected(word.description) }
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        index += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw expected("a key") }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw expected("a colon") }
            let member = try value(depth: depth + 1)
            guard members.updateValue(member, forKey: key) == nil else {
                throw expected("every key once", .repeatedKey)
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw expected("a comma or a closing brace") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        index += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw expected("a comma or a closing bracket") }
        return .array(elements)
    }

    private mutating func digits() -> Int {
        let start = index
        while let byte = current, byte >= 0x30, byte <= 0x39 { index += 1 }
        return index - start
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = index
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        let leadingZero = current == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadingZero || count == 1 else { throw expected("a value") }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw expected("a digit") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw expected("a digit") }
        }
        guard index - start <= 400 else { throw expected("a shorter number") }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw expected("a number in range") }
        return .number(double)
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        index += 1
        var content: [UInt8] = []
        while true {
            guard let byte = current else { throw expected("a closing quote") }
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw expected("valid UTF-8") }
                return text
            case UInt8(ascii: "\\"): try escape(into: &content)
            case ..<0x20: throw expected("control characters escaped")
            default: content.append(byte)
            }
        }
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = current else { throw expected("an escape") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try escapedScalar()
            content.append(contentsOf: Character(scalar).utf8)
        default: throw expected("a known escape")
        }
    }

    private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try hexUnit()
        var code = UInt32(unit)
        if (0xD800..<0xDC00).contains(unit) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw expected("a low surrogate") }
            let low = try hexUnit()
            guard (0xDC00..<0xE000).contains(low) else { throw expected("a low surrogate") }
            code = 0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw expected("no lone surrogate") }
        return scalar
    }

    private mutating func hexUnit() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw expected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
