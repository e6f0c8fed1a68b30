package import Changesets

/// The type of a column, or of an element of its collection.
package struct ElementType: Hashable, Sendable {
    /// `null` means mixed.
    package var type: PayloadType
    package var nullable: Bool
    /// The class that a link points to; empty for a link to any class, nil for what is no link.
    package var target: ByteString?

    package init(type: PayloadType, nullable: Bool, target: ByteString? = nil) {
        self.type = type
        self.nullable = nullable
        self.target = target
    }

    package static let mixed = ElementType(type: .null, nullable: true)
    package var isMixed: Bool { type == .null }
}

/// One field of a class. The primary key is not among a table's columns.
package struct ColumnSchema: Hashable, Sendable {
    package var id: ColumnID
    package var name: ByteString
    package var element: ElementType
    package var collection: CollectionType
    /// The type of a dictionary's keys: string.
    package var keyType: PayloadType?

    package init(
        id: ColumnID, name: ByteString, element: ElementType, collection: CollectionType, keyType: PayloadType? = nil
    ) {
        self.id = id
        self.name = name
        self.element = element
        self.collection = collection
        self.keyType = keyType
    }

    /// The value of the field in an object where it was never written.
    package var defaultValue: Value { collection == .single ? element.defaultValue : collection.empty }
}

extension ElementType {
    /// The value of a property of this type that was never written.
    package var defaultValue: Value {
        guard !nullable else { return .null }
        switch type {
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .string: return .string("")
        case .binary: return .binary([])
        case .timestamp: return .timestamp(TimestampValue(seconds: 0, nanoseconds: 0))
        case .float: return .float(bits: 0)
        case .double: return .double(bits: 0)
        case .decimal: return .decimal(Decimal128Value(high: 0x3040_0000_0000_0000, low: 0))
        case .objectID: return .objectID(ObjectIDValue(high: 0, low: 0))
        case .uuid: return .uuid(UUIDValue(high: 0, low: 0))
        case .null, .link, .set, .list, .erased, .dictionary, .objectValue, .globalKey: return .null
        }
    }
}
