import Changesets
import SyncModel

/// Reads MongoDB's Extended JSON v2, relaxed and canonical alike: `{"$numberLong": "5"}` and `5` are integers.
///
/// Strict where a mistake would be written: integers beyond 64 bits, numbers beyond doubles, wrappers with other content than theirs, keys that
/// stand twice and text that is not UTF-8 are errors. Objects whose first key is no wrapper's are documents, those of operators included.
package struct ExtendedJSONParser {
    private var scanner: JSONScanner
    private let limits: ExtendedJSONLimits
    private var values = 0

    private init(_ bytes: [UInt8], _ limits: ExtendedJSONLimits) {
        scanner = JSONScanner(bytes)
        self.limits = limits
    }

    package static func parse(
        _ bytes: [UInt8], limits: ExtendedJSONLimits = ExtendedJSONLimits()
    ) throws(ExtendedJSONError) -> BSONValue {
        guard bytes.count <= limits.bytes else {
            throw ExtendedJSONError(.limit, "expected at most \(limits.bytes) bytes, came \(bytes.count)")
        }
        var parser = ExtendedJSONParser(bytes, limits)
        let value = try parser.value(depth: 0)
        do throws(JSONSyntaxError) {
            try parser.scanner.finish()
        } catch {
            throw ExtendedJSONError(error)
        }
        return value
    }

    package static func parse(
        _ text: String, limits: ExtendedJSONLimits = ExtendedJSONLimits()
    ) throws(ExtendedJSONError) -> BSONValue {
        try parse(Array(text.utf8), limits: limits)
    }

    /// Reads a text that has to be an object.
    package static func parseDocument(
        _ bytes: [UInt8], limits: ExtendedJSONLimits = ExtendedJSONLimits()
    ) throws(ExtendedJSONError) -> BSONDocument {
        let value = try parse(bytes, limits: limits)
        guard case .document(let document) = value else {
            throw ExtendedJSONError(.invalidValue, "expected an object, came \(value.typeName)")
        }
        return document
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(ExtendedJSONError) -> BSONValue {
        values += 1
        guard values <= limits.values else {
            throw ExtendedJSONError(.limit, "expected at most \(limits.values) values", offset: scanner.index)
        }
        scanner.skipSpace()
        switch scanner.current {
        case UInt8(ascii: "{"): return try object(depth: try deeper(depth))
        case UInt8(ascii: "["): return .array(try array(depth: try deeper(depth)))
        case UInt8(ascii: "\""):
            return .string(ByteString(try scan { scanner throws(JSONSyntaxError) in try scanner.string() }))
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private func deeper(_ depth: Int) throws(ExtendedJSONError) -> Int {
        guard depth < limits.depth else {
            throw ExtendedJSONError(
                .limit, "expected objects and arrays nested at most \(limits.depth) deep", offset: scanner.index)
        }
        return depth + 1
    }

    private mutating func scan<Token>(
        _ body: (inout JSONScanner) throws(JSONSyntaxError) -> Token
    ) throws(ExtendedJSONError) -> Token {
        do throws(JSONSyntaxError) {
            return try body(&scanner)
        } catch {
            throw ExtendedJSONError(error)
        }
    }

    private mutating func word(_ word: StaticString, _ value: BSONValue) throws(ExtendedJSONError) -> BSONValue {
        try scan { scanner throws(JSONSyntaxError) in try scanner.take(word) }
        return value
    }

    private mutating func number() throws(ExtendedJSONError) -> BSONValue {
        let start = scanner.index
        let (text, isInteger) = try scan { scanner throws(JSONSyntaxError) in try scanner.number() }
        if isInteger {
            guard let value = Int64(text) else {
                throw ExtendedJSONError(
                    .invalidValue,
                    "expected an integer of 64 bits, or a point for a double, or $numberDecimal, came \(text.shortened)",
                    offset: start)
            }
            return BSONValue(value)
        }
        guard let value = Double(text), value.isFinite else {
            throw ExtendedJSONError(
                .invalidValue, "expected a number that a double can hold, came \(text.shortened)", offset: start)
        }
        return .double(value)
    }

    private mutating func array(depth: Int) throws(ExtendedJSONError) -> [BSONValue] {
        _ = scanner.take(UInt8(ascii: "["))
        var elements: [BSONValue] = []
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "]")) { return [] }
        repeat {
            do throws(ExtendedJSONError) {
                elements.append(try value(depth: depth))
            } catch {
                throw error.within(.index(elements.count))
            }
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else {
            throw ExtendedJSONError(scanner.expected("a comma or a closing bracket"))
        }
        return elements
    }

    private mutating func object(depth: Int) throws(ExtendedJSONError) -> BSONValue {
        let start = scanner.index
        _ = scanner.take(UInt8(ascii: "{"))
        var document = BSONDocument()
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "}")) { return .document(document) }
        repeat {
            scanner.skipSpace()
            guard scanner.current == UInt8(ascii: "\"") else { throw ExtendedJSONError(scanner.expected("a key")) }
            let key = ByteString(try scan { scanner throws(JSONSyntaxError) in try scanner.string() })
            scanner.skipSpace()
            guard scanner.take(UInt8(ascii: ":")) else { throw ExtendedJSONError(scanner.expected("a colon")) }
            let isNew: Bool
            do throws(ExtendedJSONError) {
                isNew = document.append(key, try value(depth: depth))
            } catch {
                throw error.within(.key(key))
            }
            guard isNew else {
                throw ExtendedJSONError(
                    .repeatedKey, "expected every key once", at: .root.key(key), offset: scanner.index)
            }
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else {
            throw ExtendedJSONError(scanner.expected("a comma or a closing brace"))
        }
        do throws(ExtendedJSONError) {
            return try ExtendedJSONWrapper.value(of: document) ?? .document(document)
        } catch {
            throw ExtendedJSONError(error.code, error.message, at: error.place, offset: start)
        }
    }
}

extension ExtendedJSONError {
    init(_ error: JSONSyntaxError) {
        let code: Code =
            switch error.reason {
            case .syntax: .syntax
            case .nesting: .limit
            case .repeatedKey: .repeatedKey
            }
        self.init(code, "expected \(error.expected)", offset: error.offset)
    }
}

extension String {
    /// The text for people, cut if it is long.
    var shortened: String { utf8.count > 48 ? "\(prefix(40))... of \(utf8.count) bytes" : self }
}
