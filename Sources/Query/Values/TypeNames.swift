import Changesets
import RealmState

/// A set of types, as `@type` names them.
package struct TypeNames: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    static let null = TypeNames(rawValue: 1)
    static let int = TypeNames(rawValue: 2)
    static let bool = TypeNames(rawValue: 4)
    static let string = TypeNames(rawValue: 8)
    static let binary = TypeNames(rawValue: 16)
    static let date = TypeNames(rawValue: 32)
    static let float = TypeNames(rawValue: 64)
    static let double = TypeNames(rawValue: 128)
    static let decimal = TypeNames(rawValue: 256)
    static let link = TypeNames(rawValue: 512)
    static let objectID = TypeNames(rawValue: 1024)
    static let uuid = TypeNames(rawValue: 2048)
    static let object = TypeNames(rawValue: 4096)
    static let array = TypeNames(rawValue: 8192)
    static let numeric: TypeNames = [.int, .float, .double, .decimal]
    static let collection: TypeNames = [.array, .object]

    /// The first name of a type is the one that canonical texts use.
    private static let names: [(types: TypeNames, names: [String])] = [
        (.null, ["null"]),
        (.int, ["int", "integer", "int16", "int32", "int64", "short", "long", "byte", "char"]),
        (.bool, ["bool", "boolean"]),
        (.string, ["string"]),
        (.binary, ["binary", "data", "bytearray", "byte[]", "bindata"]),
        (.date, ["date", "datetimeoffset", "timestamp"]),
        (.float, ["float"]),
        (.double, ["double"]),
        (.decimal, ["decimal128", "decimal"]),
        (.link, ["objectlink", "link"]),
        (.objectID, ["objectid"]),
        (.uuid, ["uuid", "guid"]),
        (.object, ["object", "dictionary"]),
        (.array, ["array", "list"]),
        (.numeric, ["numeric"]),
        (.collection, ["collection"]),
    ]

    /// Any spelling, in any case.
    init?(named name: ByteString) {
        let lower = String(decoding: name.bytes.map(\.asciiLowercase), as: UTF8.self)
        guard let found = Self.names.first(where: { $0.names.contains(lower) }) else { return nil }
        self = found.types
    }

    init(_ value: Value) {
        switch value {
        case .embedded: self = .link
        case .list, .set: self = .array
        case .dictionary: self = .object
        default: self = QueryType(value).flatMap { TypeNames($0) } ?? []
        }
    }

    init?(_ type: QueryType) {
        switch type {
        case .null: self = .null
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .date
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .link: self = .link
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .mixed, .typeName: return nil
        }
    }

    /// The name that canonical texts use.
    var name: String { Self.names.first { $0.types == self }?.names[0] ?? "" }
}
