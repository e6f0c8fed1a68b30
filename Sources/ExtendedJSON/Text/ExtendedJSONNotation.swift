import Changesets

/// How a scalar is written.
indirect enum ExtendedJSONNotation {
    /// A JSON number.
    case bare(String)
    case text(String)
    case object([(key: String, content: ExtendedJSONNotation)])

    static func wrapper(_ key: String, _ text: String) -> ExtendedJSONNotation { .object([(key, .text(text))]) }
}

extension BSONValue {
    /// The notation of a value that JSON has no literal for: of a number, or of one that stands in a wrapper.
    func notation(_ form: ExtendedJSONWriter.Form) -> ExtendedJSONNotation {
        func number(_ text: String, _ wrapper: String) -> ExtendedJSONNotation {
            form == .relaxed ? .bare(text) : .wrapper(wrapper, text)
        }
        switch self {
        case .int32(let value): return number(String(value), "$numberInt")
        case .int64(let value): return number(String(value), "$numberLong")
        case .double(let value) where value.isFinite: return number(value.description, "$numberDouble")
        case .double(let value):
            return .wrapper("$numberDouble", value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
        case .decimal128(let value): return .wrapper("$numberDecimal", value.text)
        case .binary(let bytes, let subtype): return Self.binary(bytes, subtype)
        case .uuid(let value): return form == .relaxed ? .wrapper("$uuid", value.text) : Self.binary(value.bytes, 4)
        case .date(let milliseconds):
            if form == .relaxed, let text = ISODate.text(milliseconds) { return .wrapper("$date", text) }
            return .object([("$date", .wrapper("$numberLong", String(milliseconds)))])
        case .objectID(let value): return .wrapper("$oid", value.text)
        case .regularExpression(let pattern, let options):
            return .object([
                ("$regularExpression", .object([("pattern", .text(pattern)), ("options", .text(options))]))
            ])
        case .timestamp(let seconds, let increment):
            let parts = [(key: "t", content: Self.bare(seconds)), ("i", Self.bare(increment))]
            return .object([("$timestamp", .object(parts))])
        case .minKey: return .object([("$minKey", .bare("1"))])
        case .maxKey: return .object([("$maxKey", .bare("1"))])
        case .null, .bool, .string, .array, .document: return .text("")
        }
    }

    private static func bare(_ number: UInt32) -> ExtendedJSONNotation { .bare(String(number)) }

    private static func binary(_ bytes: [UInt8], _ subtype: UInt8) -> ExtendedJSONNotation {
        let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
        return .object([
            ("$binary", .object([("base64", .text(text)), ("subType", .text(hexText(UInt64(subtype), 2)))]))
        ])
    }
}
