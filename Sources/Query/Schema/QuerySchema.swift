package import Changesets
package import RealmState

/// The classes that a query may speak of.
package struct QuerySchema: Sendable {
    package private(set) var classes: [ByteString: QueryClass] = [:]

    package init(_ classes: [QueryClass]) {
        for one in classes { self.classes[one.name] = one }
    }

    /// The classes of a realm.
    /// - Parameter names: what else the properties may be called; these names come before those of the realm.
    package init(_ schema: Schema, names: QueryNames = QueryNames()) {
        self.init(
            schema.tables.map { table in
                var type = QueryClass(table)
                type.names = names.classes[table.name] ?? [:]
                return type
            })
    }

    package subscript(_ name: ByteString) -> QueryClass? { classes[name] }
}

/// A class as queries see it.
package struct QueryClass: Sendable {
    package var name: ByteString
    package var isEmbedded: Bool
    package var keyType: QueryType?
    private(set) var properties: [ByteString: QueryProperty] = [:]
    /// What else properties are called, and what links to an object.
    fileprivate(set) var names: [ByteString: QueryNames.Meaning] = [:]

    package init(_ table: TableSchema, fullText: Set<ByteString> = []) {
        name = table.name
        isEmbedded = table.kind == .embedded
        if let key = table.key, !key.name.isEmpty, let type = QueryType(key.type) {
            keyType = type
            properties[key.name] = QueryProperty(
                name: key.name, type: type, isNullable: key.nullable, slot: .key, defaultValue: .null)
        }
        for column in table.columns {
            guard let type = QueryType(column.element.type) else { continue }
            properties[column.name] = QueryProperty(
                name: column.name, type: type, collection: column.collection, isNullable: column.element.nullable,
                target: column.element.target, isFullText: fullText.contains(column.name), slot: .column(column.id),
                defaultValue: column.defaultValue)
        }
    }

    /// A class of which only the properties are known; the one with the slot `key` is the primary key.
    package init(name: ByteString, isEmbedded: Bool, properties: [QueryProperty]) {
        self.name = name
        self.isEmbedded = isEmbedded
        for property in properties {
            self.properties[property.name] = property
            if property.slot == .key { keyType = property.type }
        }
    }

    package subscript(_ name: ByteString) -> QueryProperty? {
        if case .property(let stored)? = names[name] { return properties[stored] }
        return properties[name]
    }

    /// The class and property whose links to an object have a name here.
    func backlinks(named name: ByteString) -> (className: ByteString, property: ByteString)? {
        if case .backlinks(let className, let property)? = names[name] { (className, property) } else { nil }
    }
}

/// Where an object keeps a property.
package enum PropertySlot: Sendable, Hashable {
    /// The object's primary key.
    case key
    case column(ColumnID)
}

/// A property as queries see it.
package struct QueryProperty: Sendable, Hashable {
    package var name: ByteString
    /// The type of the property, or of a collection's elements.
    package var type: QueryType
    package var collection = CollectionType.single
    package var isNullable: Bool
    /// The class that a link points to.
    package var target: ByteString?
    package var isFullText = false
    package var slot: PropertySlot
    /// The value that an object holds that never wrote the property.
    package var defaultValue: Value

    package init(
        name: ByteString, type: QueryType, collection: CollectionType = .single, isNullable: Bool,
        target: ByteString? = nil,
        isFullText: Bool = false, slot: PropertySlot, defaultValue: Value
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        self.isNullable = isNullable
        self.target = target
        self.isFullText = isFullText
        self.slot = slot
        self.defaultValue = defaultValue
    }

    var isCollection: Bool { collection != .single }
}
