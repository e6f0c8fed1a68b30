/// The key of an object inside one changeset; a string key is a number in that changeset's table.
package enum PrimaryKey: Hashable, Sendable {
    case null
    case int(Int64)
    case string(InternedString)
    case globalKey(high: UInt64, low: UInt64)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)
}

/// The key of an object anywhere outside a changeset: the same, with the string itself.
package enum ObjectKey: Hashable, Sendable {
    case null
    case int(Int64)
    case string(ByteString)
    case globalKey(high: UInt64, low: UInt64)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)
}

/// An object of a realm: its class (without the `class_` prefix) and key.
package struct ObjectAddress: Hashable, Sendable {
    package var className: ByteString
    package var key: ObjectKey

    package init(_ className: ByteString, _ key: ObjectKey) {
        self.className = className
        self.key = key
    }
}

extension InternTable {
    /// The key with its string looked up; nil if the number is unknown to this table.
    package func resolve(_ key: PrimaryKey) -> ObjectKey? {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let interned): self[interned].map(ObjectKey.string)
        case .globalKey(let high, let low): .globalKey(high: high, low: low)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }

    package mutating func intern(_ key: ObjectKey) -> PrimaryKey {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let string): .string(intern(string))
        case .globalKey(let high, let low): .globalKey(high: high, low: low)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }
}
