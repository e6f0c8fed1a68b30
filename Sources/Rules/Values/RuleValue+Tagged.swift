import SyncModel

// A form of values that is read back exactly: a text that looks like an expansion or like extended JSON stays a text.
extension RuleValue {
    var tagged: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): ["n": .string(number.text)]
        case .string(let text): .string(text)
        case .binary(let bytes): ["b": .string(HexBytes(bytes).hex)]
        case .objectID(let bytes): ["o": .string(HexBytes(bytes).hex)]
        case .uuid(let bytes): ["u": .string(HexBytes(bytes).hex)]
        case .date(let milliseconds): ["d": .integer(milliseconds)]
        case .array(let elements): .array(elements.map(\.tagged))
        case .object(let members): ["m": .object(members.mapValues(\.tagged))]
        }
    }

    /// Nil for JSON that is no such form.
    init?(tagged json: JSONValue) {
        func bytes(_ text: String, _ count: Int? = nil) -> [UInt8]? {
            guard let bytes = HexBytes(hex: text)?.bytes, count == nil || bytes.count == count else { return nil }
            return bytes
        }
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .array(let elements):
            let values = elements.compactMap { RuleValue(tagged: $0) }
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case .object(let members):
            guard members.count == 1, let (tag, content) = members.first else { return nil }
            let value: RuleValue? =
                switch (tag, content) {
                case ("n", .string(let text)): RuleNumber(decimal: text).map { .number($0) }
                case ("b", .string(let text)): bytes(text).map { .binary($0) }
                case ("o", .string(let text)): bytes(text, 12).map { .objectID($0) }
                case ("u", .string(let text)): bytes(text, 16).map { .uuid($0) }
                case ("d", .integer(let milliseconds)): .date(milliseconds)
                case ("m", .object(let members)): Self.object(tagged: members)
                default: nil
                }
            guard let value else { return nil }
            self = value
        case .integer, .number: return nil
        }
    }

    private static func object(tagged members: [String: JSONValue]) -> RuleValue? {
        let values = members.compactMapValues { RuleValue(tagged: $0) }
        return values.count == members.count ? .object(values) : nil
    }
}
