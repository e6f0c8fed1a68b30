/// The value that an instruction carries. Markers (`list`, `objectValue`, `erased` ...) have no data.
///
/// Floating-point numbers are kept as bits so that NaN payloads and the sign of zero survive; `==` on payloads is
/// therefore equality of bytes. The merge's own notion of equality is in `Merge`.
package enum Payload: Hashable, Sendable {
    case set, list, dictionary
    case erased
    case objectValue
    case null
    case int(Int64)
    case bool(Bool)
    case string(ByteString)
    case binary([UInt8])
    case timestamp(TimestampValue)
    case float(bits: UInt32)
    case double(bits: UInt64)
    case decimal(Decimal128Value)
    case link(table: InternedString, key: PrimaryKey)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)

    package var type: PayloadType {
        switch self {
        case .set: .set
        case .list: .list
        case .erased: .erased
        case .dictionary: .dictionary
        case .objectValue: .objectValue
        case .null: .null
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .link: .link
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }
}

/// Type codes of payloads, keys and columns (docs/changesets.md, "Payload types"). As a column type, `null` means
/// mixed.
package enum PayloadType: Int64, Sendable, Hashable {
    case set = -6
    case list = -5
    case erased = -4
    case dictionary = -3
    case objectValue = -2
    case globalKey = -1
    case null = 0
    case int = 1
    case bool = 2
    case string = 3
    case binary = 4
    case timestamp = 5
    case float = 6
    case double = 7
    case decimal = 8
    case link = 9
    case objectID = 10
    case uuid = 11
}

package enum CollectionType: UInt8, Sendable, Hashable {
    case single = 0
    case list = 1
    case dictionary = 2
    case set = 3
}

package enum TableType: UInt8, Sendable, Hashable {
    case topLevel = 0
    case embedded = 1
    case asymmetric = 2
}
