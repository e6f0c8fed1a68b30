package import Changesets
import ExtendedJSON
import SyncModel

/// A partition value as a realm's name has it, and as a property of an object holds it.
package enum PartitionKey: Hashable, Sendable {
    case null
    case string(String)
    case int(Int64)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)

    /// - Parameter partition: extended JSON, as realms are named.
    package init?(partition text: String) {
        guard let json = try? JSONParser.parse(text) else { return nil }
        switch json {
        case .null: self = .null
        case .string(let value): self = .string(value)
        case .object(let members):
            switch BSONValue.wrapped(members) {
            case .int32(let value)?: self = .int(Int64(value))
            case .int64(let value)?: self = .int(value)
            case .objectID(let id)?: self = .objectID(id)
            case .uuid(let id)?: self = .uuid(id)
            default: return nil
            }
        default: return nil
        }
    }

    /// The key as a realm's name has it.
    package var partition: String {
        let value: BSONValue =
            switch self {
            case .null: .null
            case .string(let value): BSONValue(value)
            case .int(let value): .int64(value)
            case .objectID(let id): .objectID(id)
            case .uuid(let id): .uuid(id)
            }
        return JSONWriter.text(of: value.json(.canonical), asciiOnly: true)
    }

    /// The type of a property that can hold it; nil for null, which any can.
    package var type: PayloadType? {
        switch self {
        case .null: nil
        case .string: .string
        case .int: .int
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }

    package var payload: Payload {
        switch self {
        case .null: .null
        case .string(let value): .string(ByteString(value))
        case .int(let value): .int(value)
        case .objectID(let id): .objectID(id)
        case .uuid(let id): .uuid(id)
        }
    }

    /// The query that selects a partition's objects of any class.
    ///
    /// - Parameter field: the property that holds it.
    package func query(on field: String) -> String {
        let value: String =
            switch self {
            case .null: "NULL"
            case .string(let text): Self.quoted(text)
            case .int(let value): "\(value)"
            case .objectID(let id): "oid(\(id.text))"
            case .uuid(let id): "uuid(\(id.text))"
            }
        return "\(field) == \(value)"
    }

    /// A text that needs no escapes as it is, any other in base 64.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"") && $0 != 0x5c }
        return isPlain ? "\"\(text)\"" : "B64\"\(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self))\""
    }
}
