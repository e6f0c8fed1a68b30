import Changesets
package import RealmState
package import SyncModel

/// The part of a realm's schema that clients of one schema version see, and how what they write comes into it and goes out of it. Pure.
///
/// The realm's schema has the classes and properties of all versions. A property that has another type since a version is another property
/// of the realm, which has a name of its own and is nobody's who does not name it. A property that differs only in whether it may be null is
/// the same one: where a version's may not, null is the type's default for it, and where the realm's may not, the default is what a null of
/// the version's clients becomes, of which these are told.
package struct SchemaMapping: Sendable {
    /// Nil: of clients that no version is known of.
    package let version: SchemaVersion?
    /// The realm's.
    let stored: Schema
    /// The schema of the version's clients, by their names. Classes and columns have the realm's numbers.
    package let visible: Schema
    /// The classes as rules see them: with the realm's values, and with the properties that the version lacks, by their plain names.
    private let ruled: [TableID: TableSchema]
    /// The steps from the realm to the version, by class and the realm's name of the property; only what differs.
    private var outgoing: [ByteString: [ByteString: Step]] = [:]
    /// The steps from the version to the realm, by class and the version's name of the property; only what differs.
    private var incoming: [ByteString: [ByteString: Step]] = [:]
    private let hidden: Set<ByteString>
    private var conversions: [TableID: [Conversion]] = [:]
    /// Columns of embedded objects of which something is to be converted.
    private var nested: [TableID: [ColumnID: TableID]] = [:]

    /// How a property is called on the other side.
    struct Step: Sendable {
        /// Nil: it is not there.
        var name: ByteString?
        var nullable: Bool?
        var conversion: Conversion?
    }

    /// A property that may be null on one side only.
    struct Conversion: Sendable {
        var column: ColumnSchema
        /// Whether the property may be null in the realm, and not in the version; otherwise the reverse.
        var isTightened: Bool
        /// The type's default.
        var value: Value
    }

    /// Nil if the version's clients see the realm's schema as it is.
    ///
    /// - Parameter stored: the realm's.
    package init?(_ version: SchemaVersion?, of stored: Schema) {
        let overrides = Dictionary(grouping: version?.properties ?? [], by: { ByteString($0.className) })
        let hidden = Set((version?.hiddenClasses ?? []).map { ByteString($0) })
        let hasOwnColumns = stored.tables.contains { table in
            table.columns.contains(where: \.name.isOfVersion)
        }
        guard hasOwnColumns || !overrides.isEmpty || !hidden.isEmpty else { return nil }
        self.version = version
        self.stored = stored
        self.hidden = hidden
        var ruled: [TableID: TableSchema] = [:]
        var shown: [TableID: [ColumnSchema]] = [:]
        var conversions: [TableID: [Conversion]] = [:]
        for table in stored.tables where !hidden.contains(table.name) {
            let own = overrides[table.name] ?? []
            let byColumn = Dictionary(
                own.compactMap { property in property.column.map { (ByteString($0), property) } },
                uniquingKeysWith: { first, _ in first })
            let names = Set(own.map { ByteString($0.name) })
            var columns: [ColumnSchema] = []
            var taken: Set<ByteString> = []
            for column in table.columns {
                let property = byColumn[column.name]
                guard property != nil || !names.contains(column.name) && !column.name.isOfVersion else { continue }
                if let target = column.element.target, hidden.contains(target) { continue }
                var column = column
                if let property { column.name = ByteString(property.name) }
                if let nullable = property?.nullable, nullable != column.element.nullable, column.mayConvert,
                    !nullable || table.kind == .topLevel
                {
                    let isTightened = column.element.nullable
                    column.element.nullable = nullable
                    var required = column.element
                    required.nullable = false
                    conversions[table.id, default: []].append(
                        Conversion(column: column, isTightened: isTightened, value: required.defaultValue))
                }
                if taken.insert(column.name).inserted { columns.append(column) }
            }
            shown[table.id] = columns
            ruled[table.id] = table.projected(Self.ruledColumns(of: table, shown: columns, taken))
        }
        visible = stored.projected { shown[$0.id] }
        self.ruled = ruled
        self.conversions = conversions
        for table in stored.tables where !hidden.contains(table.name) { note(table) }
        for property in version?.properties ?? [] { note(property) }
        nested = Self.nested(in: visible, conversions)
    }

    /// - Parameter shown: the version's, whose names count first.
    private static func ruledColumns(
        of table: TableSchema, shown: [ColumnSchema], _ taken: Set<ByteString>
    ) -> [ColumnSchema] {
        let names = Dictionary(shown.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        var byID: [ColumnID: ColumnSchema] = [:]
        for var column in table.columns {
            guard let name = names[column.id] else { continue }
            column.name = name
            byID[column.id] = column
        }
        var taken = taken
        // The latest of several properties of one name counts.
        let others = table.columns.filter { byID[$0.id] == nil }.sorted {
            (SchemaVersion.parts(ofColumn: $0.name.string)?.number ?? 0)
                > (SchemaVersion.parts(ofColumn: $1.name.string)?.number ?? 0)
        }
        for column in others {
            var column = column
            if let parts = SchemaVersion.parts(ofColumn: column.name.string) { column.name = ByteString(parts.name) }
            if taken.insert(column.name).inserted { byID[column.id] = column }
        }
        return table.columns.compactMap { byID[$0.id] }
    }

    /// Notes what becomes of the names of a class's properties.
    private mutating func note(_ table: TableSchema) {
        guard let shown = visible.table(table.id) else { return }
        let byID = Dictionary(shown.columns.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for column in table.columns {
            let other = byID[column.id]
            let conversion = conversions[table.id]?.first { $0.column.id == column.id }
            if other?.name != column.name || conversion != nil {
                outgoing[table.name, default: [:]][column.name] = Step(
                    name: other?.name, nullable: other?.element.nullable, conversion: conversion)
            }
            if let other, other.name != column.name || conversion != nil {
                incoming[table.name, default: [:]][other.name] = Step(
                    name: column.name, nullable: column.element.nullable, conversion: conversion)
            }
        }
        // What is not the version's its clients cannot write either.
        for column in table.columns where byID[column.id] == nil && incoming[table.name]?[column.name] == nil {
            incoming[table.name, default: [:]][column.name] = Step(name: nil)
        }
    }

    /// Notes a property that the realm may not have yet.
    private mutating func note(_ property: SchemaVersion.Property) {
        let (className, name) = (ByteString(property.className), ByteString(property.name))
        guard incoming[className]?[name]?.name == nil else { return }
        incoming[className, default: [:]][name] = Step(
            name: property.column.map { ByteString($0) }, nullable: property.nullable.map { !$0 })
    }

    private static func nested(
        in schema: Schema, _ conversions: [TableID: [Conversion]]
    ) -> [TableID: [ColumnID: TableID]] {
        var nested: [TableID: [ColumnID: TableID]] = [:]
        var concerned = Set(conversions.keys)
        while true {
            let count = concerned.count
            for table in schema.tables {
                for column in table.columns {
                    guard let target = schema.embeddedTarget(of: column.element), concerned.contains(target.id) else {
                        continue
                    }
                    nested[table.id, default: [:]][column.id] = target.id
                    concerned.insert(table.id)
                }
            }
            guard concerned.count > count else { return nested }
        }
    }

    /// Some property may be null on one side only.
    var hasConversions: Bool { !conversions.isEmpty }

    // MARK: Objects

    /// A class as rules see it; nil if the version does not have it.
    package func ruled(_ table: TableID) -> TableSchema? { ruled[table] }

    /// Whether a property's values are not those that the realm keeps.
    package func converts(_ column: ColumnID, of table: TableID) -> Bool {
        conversions[table]?.contains { $0.column.id == column } ?? false
    }

    /// An object as the version's clients have it, to be read by `visible`.
    package func projected(_ object: StoredObject, of table: TableID) -> StoredObject {
        guard conversions[table] != nil || nested[table] != nil else { return object }
        var object = object
        for conversion in conversions[table] ?? [] {
            let column = conversion.column.id
            if conversion.isTightened {
                if object[column] == .null { object[column] = nil }
            } else if object[column] == nil {
                object[column] = conversion.value
            }
        }
        for (column, target) in nested[table] ?? [:] {
            if let value = object[column] { object[column] = projected(value, of: target) }
        }
        return object
    }

    private func projected(_ value: Value, of table: TableID) -> Value {
        switch value {
        case .embedded(let object): .embedded(projected(object, of: table))
        case .list(let items): .list(items.map { projected($0, of: table) })
        case .dictionary(let entries): .dictionary(entries.mapValues { projected($0, of: table) })
        default: value
        }
    }

    // MARK: Names

    func outgoing(_ className: ByteString, _ name: ByteString) -> Step? { outgoing[className]?[name] }
    func incoming(_ className: ByteString, _ name: ByteString) -> Step? {
        // No client knows the realm's names of what versions have of their own.
        name.isOfVersion ? Step() : incoming[className]?[name]
    }
    /// The class is not the version's.
    func hides(_ className: ByteString) -> Bool { hidden.contains(className) }

    /// The same by the version's names.
    func shownRelaxed(_ className: ByteString) -> [(name: ByteString, conversion: Conversion)] {
        relaxed(className).map { ($0.conversion.column.name, $0.conversion) }
    }

    /// The properties of a class that the version's clients may set to null, and the realm may not, by the realm's names.
    func relaxed(_ className: ByteString) -> [(name: ByteString, conversion: Conversion)] {
        (incoming[className] ?? [:]).compactMap { _, step in
            guard let name = step.name, let conversion = step.conversion, !conversion.isTightened else { return nil }
            return (name, conversion)
        }.sorted { $0.name < $1.name }
    }
}

extension ByteString {
    /// Whether it is the name of a property that only versions have that name it.
    fileprivate var isOfVersion: Bool {
        bytes.contains(UInt8(ascii: "@")) && SchemaVersion.parts(ofColumn: string) != nil
    }
}

extension ColumnSchema {
    /// Whether the property can be one that may be null in one version, and may not in another.
    fileprivate var mayConvert: Bool { collection == .single && !element.isMixed && element.type != .link }
}
