internal import Changesets
internal import ExtendedJSON
package import SyncModel

// MongoDB's extended JSON: `{"$oid": "..."}` and its like stand for one value.
extension RuleValue {
    /// Reads a document's value. An object that stands for no value of another kind is an object.
    package init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .number(RuleNumber(value))
        case .number(let value): self = RuleNumber(value).map(RuleValue.number) ?? .null
        case .string(let value): self = .string(value)
        case .array(let elements): self = .array(elements.map { RuleValue($0) })
        case .object(let members): self = Self.wrapped(members) ?? .object(members.mapValues { RuleValue($0) })
        }
    }

    /// Whether an object with this key alone should stand for a value.
    static func isWrapper(_ key: String) -> Bool {
        [
            "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$oid", "$uuid", "$date", "$binary",
        ].contains(key)
    }

    /// The value that an object such as `{"$oid": "..."}` stands for; nil if it stands for none, and for infinities and what is not a number.
    static func wrapped(_ members: [String: JSONValue]) -> RuleValue? {
        // Rules compare decimals of any number of digits.
        if let text = members["$numberDecimal"]?.stringValue, members.count == 1 {
            return RuleNumber(decimal: text).map { .number($0) }
        }
        switch BSONValue.wrapped(members) {
        case .int32(let value)?: return .number(RuleNumber(Int64(value)))
        case .int64(let value)?: return .number(RuleNumber(value))
        case .double(let value)?: return RuleNumber(value).map { .number($0) }
        case .objectID(let value)?: return .objectID(value.bytes)
        case .uuid(let value)?: return .uuid(value.bytes)
        case .date(let milliseconds)?: return .date(milliseconds)
        case .binary(let bytes, _)?: return .binary(bytes)
        default: return nil
        }
    }

    /// Nil unless the text is 24 hexadecimal digits.
    static func objectID(hex: String) -> RuleValue? { ObjectIDValue(hex: hex).map { .objectID($0.bytes) } }

    /// Nil unless the text is a UUID with its hyphens.
    static func uuid(text: String) -> RuleValue? { UUIDValue(text).map { .uuid($0.bytes) } }

    static func uuidText(_ bytes: [UInt8]) -> String { UUIDValue(bytes: bytes)?.text ?? "" }
}

extension RuleValue {
    /// The value in extended JSON.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number):
            number.integer.map { .integer($0) } ?? .object(["$numberDecimal": .string(number.text)])
        case .string(let value): .string(value)
        case .binary(let bytes): BSONValue.binary(bytes, subtype: 0).json(.canonical)
        case .objectID(let bytes): ObjectIDValue(bytes: bytes).map { BSONValue.objectID($0).json(.relaxed) } ?? .null
        case .uuid(let bytes): UUIDValue(bytes: bytes).map { BSONValue.uuid($0).json(.relaxed) } ?? .null
        case .date(let milliseconds): BSONValue.date(milliseconds).json(.canonical)
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members): .object(members.mapValues(\.json))
        }
    }

    /// A partition value as a realm's name has it; nil if the name is no extended JSON, as no client's BIND could make it.
    package init?(partition: String) {
        guard let json = try? JSONParser.parse(partition) else { return nil }
        self.init(json)
    }
}
