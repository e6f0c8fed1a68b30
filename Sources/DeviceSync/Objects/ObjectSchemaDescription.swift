internal import Changesets
internal import RealmState

/// What a property, or an element of its collection, holds.
public indirect enum PropertyType: Hashable, Sendable {
    /// A 64-bit integer.
    case int
    /// A truth value.
    case bool
    /// A string.
    case string
    /// Bytes.
    case data
    /// A point in time.
    case date
    /// A 32-bit floating-point number.
    case float
    /// A 64-bit floating-point number.
    case double
    /// A decimal number.
    case decimal128
    /// An object identifier.
    case objectId
    /// A UUID.
    case uuid
    /// A value of any type.
    case any
    /// A link to an object of a class, or an embedded object if the class is an embedded one.
    case object(String)
}

/// Whether a property holds one value or many.
public enum PropertyCollection: Hashable, Sendable {
    /// One value.
    case none
    /// Values in order.
    case list
    /// Values without order or repetition.
    case set
    /// Values by string keys.
    case map
}

/// One property of a class.
public struct PropertyDescription: Hashable, Sendable {
    /// The name.
    public var name: String
    /// What it holds.
    public var type: PropertyType
    /// Whether null is a value. Links and `any` always allow it.
    public var isOptional: Bool
    /// Whether it holds one value or many.
    public var collection: PropertyCollection

    /// A property.
    public init(_ name: String, _ type: PropertyType, isOptional: Bool = false, collection: PropertyCollection = .none)
    {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.collection = collection
    }
}

/// One class of a realm's schema, declared without a Swift type. (Not upstream.)
public struct ObjectSchemaDescription: Hashable, Sendable {
    /// What its objects are.
    public enum Kind: Hashable, Sendable {
        /// Objects with a primary key.
        case topLevel
        /// Objects inside of others.
        case embedded
        /// Objects that are uploaded and then forgotten.
        case asymmetric
    }

    /// The class name.
    public var name: String
    /// What its objects are.
    public var kind: Kind
    /// The primary key; nil for embedded classes. A synced class needs one named `_id`.
    public var primaryKey: PropertyDescription?
    /// The other properties, in order.
    public var properties: [PropertyDescription]

    /// A class of objects with a primary key.
    public init(
        _ name: String, primaryKey: PropertyDescription = PropertyDescription("_id", .objectId),
        properties: [PropertyDescription], isAsymmetric: Bool = false
    ) {
        self.name = name
        self.kind = isAsymmetric ? .asymmetric : .topLevel
        self.primaryKey = primaryKey
        self.properties = properties
    }

    /// A class of embedded objects.
    public init(embedded name: String, properties: [PropertyDescription]) {
        self.name = name
        kind = .embedded
        primaryKey = nil
        self.properties = properties
    }
}

extension PropertyDescription {
    var element: ElementType {
        switch type {
        case .any: .mixed
        // Elements of lists and sets of links are never null; single links and entries of maps always may be.
        case .object(let target):
            ElementType(type: .link, nullable: collection == .none || collection == .map, target: ByteString(target))
        default: ElementType(type: payloadType, nullable: isOptional)
        }
    }

    var payloadType: PayloadType {
        switch type {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .data: .binary
        case .date: .timestamp
        case .float: .float
        case .double: .double
        case .decimal128: .decimal
        case .objectId: .objectID
        case .uuid: .uuid
        case .any: .null
        case .object: .link
        }
    }

    var collectionType: CollectionType {
        switch collection {
        case .none: .single
        case .list: .list
        case .set: .set
        case .map: .dictionary
        }
    }

    /// As read back from a file.
    init(_ column: ColumnSchema) {
        let type: PropertyType =
            switch column.element.type {
            case .int: .int
            case .bool: .bool
            case .string: .string
            case .binary: .data
            case .timestamp: .date
            case .float: .float
            case .double: .double
            case .decimal: .decimal128
            case .objectID: .objectId
            case .uuid: .uuid
            case .link: .object(column.element.target?.string ?? "")
            default: .any
            }
        let collection: PropertyCollection =
            switch column.collection {
            case .single: .none
            case .list: .list
            case .set: .set
            case .dictionary: .map
            }
        self.init(
            column.name.string, type, isOptional: column.element.nullable && !column.element.isMixed,
            collection: collection)
    }
}

extension ObjectSchemaDescription {
    /// As read back from a file.
    init(_ table: TableSchema) {
        let properties = table.columns.map(PropertyDescription.init)
        guard let key = table.key else {
            self.init(embedded: table.name.string, properties: properties)
            return
        }
        let column = ColumnSchema(
            id: ColumnID(rawValue: 0), name: key.name, element: ElementType(type: key.type, nullable: key.nullable),
            collection: .single)
        self.init(
            table.name.string, primaryKey: PropertyDescription(column), properties: properties,
            isAsymmetric: table.kind == .asymmetric)
    }
}
