internal import Changesets
internal import RealmState

/// The classes of a realm: `realm.schema`.
public struct Schema: Equatable, CustomStringConvertible, Sendable {
    /// The classes.
    public let objectSchema: [ObjectSchema]

    /// A class by its name; nil if the realm does not have it.
    public subscript(_ className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }

    /// The classes with their properties, line by line, by their names.
    public var description: String {
        let classes = objectSchema.sorted { $0.className < $1.className }.map {
            "\t\(Description.indented($0.description))\n"
        }
        return "Schema {\n\(classes.joined())}"
    }
}

/// A class of a realm.
public struct ObjectSchema: Equatable, CustomStringConvertible, Sendable {
    /// The name.
    public let className: String
    /// The properties in the order of their declarations, without those that hold what links to the objects.
    public let properties: [Property]
    /// The properties that hold what links to the objects.
    private let backlinks: [Property]
    private let kind: ObjectSchemaDescription.Kind
    private let type: ObjectBase.Type?

    /// Whether the objects are part of other objects.
    public var isEmbedded: Bool { kind == .embedded }
    /// Whether the objects are uploaded and not kept.
    public var isAsymmetric: Bool { kind == .asymmetric }
    /// The Swift class of the objects: `DynamicObject` if they have no model.
    public var objectClass: AnyClass { type ?? DynamicObject.self }
    /// The primary key; nil if the class has none.
    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimaryKey) }

    /// A property by its name; nil if the class does not have it.
    public subscript(_ propertyName: String) -> Property? {
        properties.first { $0.name == propertyName } ?? backlinks.first { $0.name == propertyName }
    }

    /// The class with its properties, line by line.
    public var description: String {
        let lines = (properties + backlinks).map { "\t\(Description.indented($0.description))\n" }
        return "\(className) \(isEmbedded ? "(embedded) " : ""){\n\(lines.joined())}"
    }

    /// Whether both are a class of one name with the same properties.
    public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
        left.className == right.className && left.kind == right.kind && left.properties == right.properties
            && left.backlinks == right.backlinks
    }

    /// A class as its Swift declaration describes it.
    init(_ model: ModelSchema) {
        let all = model.all.map { Property($0) }
        className = model.name
        properties = all.filter { $0.type != .linkingObjects }
        backlinks = all.filter { $0.type == .linkingObjects }
        kind = model.description.kind
        type = model.type
    }

    /// A class without a Swift type.
    init(_ description: ObjectSchemaDescription) {
        className = description.name
        properties =
            (description.primaryKey.map { [Property($0, isPrimaryKey: true)] } ?? [])
            + description.properties.map { Property($0) }
        backlinks = []
        kind = description.kind
        type = nil
    }
}

/// A property of a class.
public struct Property: Equatable, CustomStringConvertible, Sendable {
    /// The name in Swift.
    public let name: String
    /// The name in realms.
    public let columnName: String
    /// The type of the value, or of each value of the collection.
    public let type: PropertyType
    /// Whether the property can be null, or what a collection holds. Links always can.
    public let isOptional: Bool
    /// Whether looking for its values is fast.
    public let isIndexed: Bool
    /// The class that the property links to, or that of an embedded object; nil for any other type.
    public let objectClassName: String?
    /// Whether this is the class's primary key.
    let isPrimaryKey: Bool
    private let collection: PropertyCollection
    /// The property of other classes by which they link to the objects.
    private let origin: String?

    /// Whether the property is a list.
    public var isArray: Bool { collection == .list }
    /// Whether the property is a set.
    public var isSet: Bool { collection == .set }
    /// Whether the property is a map.
    public var isMap: Bool { collection == .map }

    /// A description of the property, line by line.
    public var description: String {
        func answer(_ isTrue: Bool) -> String { isTrue ? "YES" : "NO" }
        var lines = [("type", type.name)]
        if let objectClassName {
            lines += [("objectClassName", objectClassName), ("linkOriginPropertyName", origin ?? "(null)")]
        }
        lines += [
            ("columnName", columnName), ("indexed", answer(isIndexed)), ("isPrimary", answer(isPrimaryKey)),
            ("array", answer(isArray)), ("set", answer(isSet)), ("dictionary", answer(isMap)),
            ("optional", answer(isOptional)),
        ]
        return "\(name) {\n\(lines.map { "\t\($0) = \($1);\n" }.joined())}"
    }

    /// A property as its Swift declaration describes it.
    init(_ property: ModelProperty) {
        var origin: String?
        if case .backlink(let name) = property.role { origin = name }
        self.init(
            property.description, name: property.swiftName, isPrimaryKey: property.isPrimaryKey, origin: origin)
    }

    /// - Parameter origin: the property by which others link to the objects, for one that holds these.
    init(
        _ description: PropertyDescription, name: String? = nil, isPrimaryKey: Bool = false, origin: String? = nil
    ) {
        self.name = name ?? description.name
        self.isPrimaryKey = isPrimaryKey
        self.origin = origin
        columnName = description.name
        type = origin == nil ? PropertyType(description.type) : .linkingObjects
        collection = description.collection
        isIndexed = description.isIndexed || isPrimaryKey
        if case .object(let target) = description.type { objectClassName = target } else { objectClassName = nil }
        let isLink = type == .object && (collection == .none || collection == .map)
        isOptional = description.isOptional || isLink
    }
}
