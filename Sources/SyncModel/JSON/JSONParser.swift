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

    private var scanner: JSONScanner

    package static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(scanner: JSONScanner(bytes))
        let value = try parser.value(depth: 0)
        try parser.scanner.finish()
        return value
    }

    package static func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue { try parse(Array(text.utf8)) }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maxDepth else { throw scanner.expected("less nesting", .nesting) }
        scanner.skipSpace()
        switch scanner.current {
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
        try scanner.take(word)
        return value
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        String(decoding: try scanner.string(), as: UTF8.self)
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        _ = scanner.take(UInt8(ascii: "{"))
        var members: [String: JSONValue] = [:]
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            scanner.skipSpace()
            guard scanner.current == UInt8(ascii: "\"") else { throw scanner.expected("a key") }
            let key = try string()
            scanner.skipSpace()
            guard scanner.take(UInt8(ascii: ":")) else { throw scanner.expected("a colon") }
            let member = try value(depth: depth + 1)
            guard members.updateValue(member, forKey: key) == nil else {
                throw scanner.expected("every key once", .repeatedKey)
            }
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { throw scanner.expected("a comma or a closing brace") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        _ = scanner.take(UInt8(ascii: "["))
        var elements: [JSONValue] = []
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else { throw scanner.expected("a comma or a closing bracket") }
        return .array(elements)
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let number = try scanner.number()
        if number.isInteger, let integer = Int64(number.text) { return .integer(integer) }
        guard let double = Double(number.text), double.isFinite else { throw scanner.expected("a number in range") }
        return .number(double)
    }
}
