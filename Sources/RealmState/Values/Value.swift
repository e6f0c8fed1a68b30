package import Changesets

/// What a property, or a slot of a collection, holds.
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
    case link(ObjectAddress)
    case list([Value])
    case dictionary([ByteString: Value])
    /// In ascending order (`Value.setOrder`), each member once.
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
