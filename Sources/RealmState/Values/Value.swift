package import Changesets

/// The content of a property, or of a slot of a collection.
///
/// `==` is equality of bytes: numbers of different types, and 1.0 and 1.00 as decimals, are different values.
package enum Value: Hashable, Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(ByteString)
    case binary([UInt8])
    case timestamp(TimestampValue)
    case float(bits: UInt32)
    case double(bits: UInt64)
    case decimal(Decimal128Value)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)
    /// The target need not exist: such a link is unresolved, reads as null, and revives when the object is created.
    ///
    /// Indirect, so that all other values take 24 bytes and not 40.
    indirect case link(ObjectAddress)
    case list([Value])
    case dictionary([ByteString: Value])
    /// The members in ascending order (`Value.setOrder`), each once.
    case set([Value])
    case embedded(EmbeddedObject)
}

extension Value {
    /// The type code of a scalar or link; nil for null, collections and embedded objects.
    package var scalarType: PayloadType? {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectID: .objectID
        case .uuid: .uuid
        case .link: .link
        case .null, .list, .dictionary, .set, .embedded: nil
        }
    }
}

extension Value {
    /// The value of a payload, an empty collection or object for a marker; nil for an erasure, and for a link, whose
    /// target only a changeset's strings can tell.
    init?(_ payload: Payload) {
        switch payload {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .binary(let value): self = .binary(value)
        case .timestamp(let value): self = .timestamp(value)
        case .float(let bits): self = .float(bits: bits)
        case .double(let bits): self = .double(bits: bits)
        case .decimal(let value): self = .decimal(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        case .list: self = .list([])
        case .dictionary: self = .dictionary([:])
        case .set: self = .set([])
        case .objectValue: self = .embedded(StoredObject())
        case .erased, .link: return nil
        }
    }

    /// Whether the value is null, a scalar or a link.
    var isPlain: Bool {
        switch self {
        case .list, .dictionary, .set, .embedded: false
        default: true
        }
    }

    /// The kind of a collection; `single` for any other value.
    var collection: CollectionType {
        switch self {
        case .list: .list
        case .dictionary: .dictionary
        case .set: .set
        default: .single
        }
    }
}

extension CollectionType {
    /// A collection of this kind without elements; null for `single`.
    var empty: Value {
        switch self {
        case .list: .list([])
        case .dictionary: .dictionary([:])
        case .set: .set([])
        case .single: .null
        }
    }
}
