internal import Changesets
internal import RealmState

/// The kind of values that a property, or an element of its collection, holds.
public indirect enum PropertyContent: Hashable, Sendable {
    /// A 64-bit integer.
    case int
    /// A Boolean value.
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
    /// The type of the value, or of each value of the collection.
    public var type: PropertyContent
    /// Whether the property can be null. Links and `any` always can.
    public var isOptional: Bool
    /// Whether the property holds one value or many.
    public var collection: PropertyCollection
    /// Whether looking for its values is to be fast. What files describe never says so: it is no part of the data.
    public var isIndexed: Bool

    /// A property.
    public init(
        _ name: String, _ type: PropertyContent, isOptional: Bool = false, collection: PropertyCollection = .none,
        isIndexed: Bool = false
    ) {
        self.name = name
        self.isIndexed = isIndexed
        self.type = type
        self.isOptional = isOptional
        self.collection = collection
    }
}

/// One class of a realm's schema, declared without a Swift type. (Not upstream.)
public struct ObjectSchemaDescription: Hashable, Sendable {
    /// The kind of its objects.
    public enum Kind: Hashable, Sendable {
        /// Objects with a primary key.
        case topLevel
        /// Objects that are part of another object.
        case embedded
        /// Objects that are uploaded and then forgotten.
        case asymmetric
    }

    /// The class name.
    public var name: String
    /// The kind of its objects.
    public var kind: Kind
    /// The primary key; nil for embedded classes, and for a class of a local realm that has none. A synced class needs one named `_id`.
    public var primaryKey: PropertyDescription?
    /// The other properties, in order.
    public var properties: [PropertyDescription]
}

extension ObjectSchemaDescription {
    /// A class of objects with a primary key.
    public init(
        _ name: String, primaryKey: PropertyDescription = PropertyDescription("_id", .objectId),
        properties: [PropertyDescription], isAsymmetric: Bool = false
    ) {
        self.init(
            name: name, kind: isAsymmetric ? .asymmetric : .topLevel, primaryKey: primaryKey, properties: properties)
    }

    /// A class of embedded objects.
    public init(embedded name: String, properties: [PropertyDescription]) {
        self.init(name: name, kind: .embedded, properties: properties)
    }

    /// The description of what a file has.
    init(_ table: TableSchema) {
        let kind: Kind =
            switch table.kind {
            case .topLevel: .topLevel
            case .embedded: .embedded
            case .asymmetric: .asymmetric
            }
        // A class without a primary key has one without a name.
        let key = table.key.flatMap { $0.name.isEmpty ? nil : $0 }
        let primaryKey = key.map { key in
            PropertyDescription(
                ColumnSchema(
                    id: ColumnID(rawValue: 0), name: key.name,
                    element: ElementType(type: key.type, nullable: key.nullable), collection: .single))
        }
        self.init(
            name: table.name.string, kind: kind, primaryKey: primaryKey,
            properties: table.columns.map(PropertyDescription.init))
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
        case .any: .null
        case .object: .link
        default: Self.scalars.first { $0.type == type }?.payload ?? .null
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

    private static let scalars: [(type: PropertyContent, payload: PayloadType)] = [
        (.int, .int), (.bool, .bool), (.string, .string), (.data, .binary), (.date, .timestamp), (.float, .float),
        (.double, .double), (.decimal128, .decimal), (.objectId, .objectID), (.uuid, .uuid),
    ]

    /// The description of what a file has.
    init(_ column: ColumnSchema) {
        let element = column.element
        let type: PropertyContent =
            element.type == .link
            ? .object(element.target?.string ?? "")
            : Self.scalars.first { $0.payload == element.type }?.type ?? .any
        let collection: PropertyCollection =
            switch column.collection {
            case .single: .none
            case .list: .list
            case .set: .set
            case .dictionary: .map
            }
        self.init(column.name.string, type, isOptional: element.nullable && !element.isMixed, collection: collection)
    }
}
