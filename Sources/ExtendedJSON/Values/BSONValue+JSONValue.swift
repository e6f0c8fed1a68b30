import Changesets
package import SyncModel

/// Values in JSON that has been read already, as small bodies and documents of operators are.
extension BSONValue {
    /// Reads a value of JSON leniently: an object that is no wrapper's form is a document, whatever its keys. Integers have 64 bits.
    package init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .int64(value)
        case .number(let value): self = .double(value)
        case .string(let value): self.init(value)
        case .array(let elements): self = .array(elements.map { BSONValue($0) })
        case .object(let members): self = Self.wrapped(members) ?? .document(BSONDocument(members))
        }
    }

    /// The value that an object such as `{"$oid": "..."}` stands for; nil if it stands for none.
    package static func wrapped(_ members: [String: JSONValue]) -> BSONValue? {
        guard members.count == 1, members.keys.first?.utf8.first == UInt8(ascii: "$") else { return nil }
        return try? ExtendedJSONWrapper.value(of: BSONDocument(members))
    }

    /// The value in JSON; members lose their order.
    package func json(_ form: ExtendedJSONWriter.Form) -> JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .string(let text): .string(text.string)
        case .array(let elements): .array(elements.map { $0.json(form) })
        case .document(let document):
            .object(Dictionary(document.lazy.map { ($0.key.string, $0.value.json(form)) }, uniquingKeysWith: { $1 }))
        case .int32(let value) where form == .relaxed: .integer(Int64(value))
        case .int64(let value) where form == .relaxed: .integer(value)
        case .double(let value) where form == .relaxed && value.isFinite: .number(value)
        case .int32, .int64, .double, .decimal128, .binary, .uuid, .date, .objectID, .regularExpression, .timestamp,
            .minKey, .maxKey:
            notation(form).json
        }
    }
}

extension BSONDocument {
    /// The members in the order of their keys.
    package init(_ members: [String: JSONValue]) {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        self.init(sorted.lazy.map { (ByteString($0.key), BSONValue($0.value)) })
    }
}

extension ExtendedJSONNotation {
    fileprivate var json: JSONValue {
        switch self {
        case .bare(let text): Int64(text).map { .integer($0) } ?? .null
        case .text(let text): .string(text)
        case .object(let members):
            .object(Dictionary(members.lazy.map { ($0.key, $0.content.json) }, uniquingKeysWith: { $1 }))
        }
    }
}
