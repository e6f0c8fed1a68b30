import Changesets
import Documents
import RealmState
import Storage
import SyncModel

/// What an app's schema becomes when another one is to take its place: what is added, or a version beside the ones before. Pure.
struct SchemaPlan {
    /// The schema of one version, by class.
    struct Class: Equatable {
        /// The class's kind and primary key; empty if the class is older than the app's schema.
        var type: String
        /// The type of each property and the realm's name for it, by the property's name.
        var properties: [String: (type: String, column: String)] = [:]

        static func == (left: Class, right: Class) -> Bool {
            left.type == right.type && left.properties.mapValues(\.type) == right.properties.mapValues(\.type)
        }
    }

    /// The app's, by the realm's names.
    private let elements: [SchemaElement]
    private let byClass: [String: [SchemaElement]]
    private struct Name: Hashable {
        var className: String
        var property: String
    }
    /// The realm's properties that some version calls by a name.
    private let columns: [Name: [SchemaElement]]
    private let newest: SchemaVersion
    private var version: SchemaVersion
    private var added: [SchemaElement] = []
    private var changes: [String] = []
    private var breaks = false

    /// - Parameter elements: of the app's realms; every class before its properties.
    /// - Returns: nil if nothing changes.
    /// - Throws: `SchemaProblem`.
    static func draft(
        from elements: [SchemaElement], _ app: AppRecord, to wanted: [SchemaElement]
    ) throws(SchemaProblem) -> SchemaDraft? {
        var plan = SchemaPlan(elements: elements, newest: app.newestSchema)
        guard wanted.count <= SchemaElement.maxPerApp else {
            throw SchemaProblem(
                "it has \(wanted.count) classes and properties; \(SchemaElement.maxPerApp) are allowed")
        }
        let target = try read(wanted)
        try tryOut(wanted)
        try plan.change(to: target)
        guard !plan.changes.isEmpty else { return nil }
        if plan.breaks {
            guard app.schemas?.versions.count ?? 0 < SchemaVersions.most else {
                throw SchemaProblem("an app has \(SchemaVersions.most) schema versions at most")
            }
            plan.version.number = plan.newest.number + 1
            plan.version.hiddenClasses.sort()
            plan.version.properties.sort { ($0.className, $0.name) < ($1.className, $1.name) }
        }
        return SchemaDraft(
            version: plan.version, basis: plan.newest.number, added: plan.added, changes: plan.changes)
    }

    /// The schema that clients of a version have.
    static func schema(of version: SchemaVersion, in elements: [SchemaElement]) -> [String: Class] {
        let hidden = Set(version.hiddenClasses)
        let overrides = Dictionary(grouping: version.properties, by: \.className)
        var classes: [String: Class] = [:]
        for element in elements where element.property == nil && !hidden.contains(element.className) {
            classes[element.className] = Class(type: element.type)
        }
        for element in elements {
            guard let column = element.property, !hidden.contains(element.className) else { continue }
            let own = overrides[element.className] ?? []
            var (name, type) = (column, element.type)
            if let property = own.first(where: { $0.column == column }) {
                name = property.name
                if let nullable = property.nullable { type = type.withOptionality(nullable) }
            } else if SchemaVersion.parts(ofColumn: column) != nil || own.contains(where: { $0.name == column }) {
                continue
            }
            if let target = PropertyType(type)?.target, hidden.contains(target) { continue }
            classes[element.className, default: Class(type: "")].properties[name] = (type, column)
        }
        return classes
    }

    private init(elements: [SchemaElement], newest: SchemaVersion) {
        self.elements = elements
        byClass = Dictionary(grouping: elements, by: \.className)
        columns = Dictionary(
            grouping: elements.filter { $0.property != nil },
            by: { element in
                let column = element.property ?? ""
                return Name(
                    className: element.className,
                    property: SchemaVersion.parts(ofColumn: column)?.name ?? column)
            })
        self.newest = newest
        version = newest
    }

    // MARK: What is wanted

    private static func read(_ wanted: [SchemaElement]) throws(SchemaProblem) -> [String: Class] {
        var classes: [String: Class] = [:]
        for element in wanted where element.property == nil {
            guard element.type == "embedded" || element.type.isKeyed, element.className.isClassName else {
                throw SchemaProblem(
                    "class \(element.className.debugDescription) has the type \(element.type.debugDescription): expected a name of 1 to \(ChangesetLimits.maxClassNameBytes) bytes, and embedded or such as object(_id: objectId)"
                )
            }
            guard classes.updateValue(Class(type: element.type), forKey: element.className) == nil else {
                throw SchemaProblem("class \(element.className) comes twice")
            }
        }
        for element in wanted {
            guard let name = element.property else { continue }
            guard let known = classes[element.className] else {
                throw SchemaProblem("property \(name) is of class \(element.className), which is not in the schema")
            }
            if known.type.primaryKey?.name == name { continue }
            guard !name.isEmpty, name.utf8.count <= maxNameBytes, !name.utf8.contains(0),
                SchemaVersion.parts(ofColumn: name) == nil
            else { throw SchemaProblem("\(name.debugDescription) is no name of a property") }
            guard let type = PropertyType(element.type) else {
                throw SchemaProblem(
                    "property \(element.className).\(name) has the type \(element.type.debugDescription): expected such as string?, list<int> or link Dog"
                )
            }
            if let target = type.target, !target.isEmpty, classes[target] == nil {
                throw SchemaProblem(
                    "property \(element.className).\(name) links to class \(target), which is not in the schema")
            }
            let before = classes[element.className]?.properties.updateValue((element.type, name), forKey: name)
            guard before == nil else { throw SchemaProblem("property \(element.className).\(name) comes twice") }
        }
        return classes
    }

    private static let maxNameBytes = ChangesetLimits.maxFieldNameBytes

    /// Declares the schema in a realm that nobody has: what the owner of the app's realm would refuse is refused before it is in force.
    private static func tryOut(_ wanted: [SchemaElement]) throws(SchemaProblem) {
        let asymmetric = Set(wanted.filter { $0.property == nil && $0.type.hasPrefix("asymmetric") }.map(\.className))
        for element in wanted {
            guard let target = PropertyType(element.type)?.target, asymmetric.contains(target) else { continue }
            throw SchemaProblem(
                "property \(element.className).\(element.property ?? "") links to \(target), which is asymmetric: nothing links to its objects"
            )
        }
        guard let declaration = DeclaredSchema([]).changeset(adding: wanted) else { return }
        var state = RealmState()
        for instruction in declaration.instructions {
            do {
                try state.apply(Changeset(strings: declaration.strings, instructions: [instruction]))
            } catch {
                let target = instruction.target
                let field = target.field.flatMap { declaration.strings[$0]?.string }
                throw SchemaProblem(
                    "\(declaration.strings[target.table]?.string ?? "")\(field.map { "." + $0 } ?? "") cannot be declared: \(error)"
                )
            }
        }
    }

    // MARK: What changes

    private mutating func change(to target: [String: Class]) throws(SchemaProblem) {
        let current = Self.schema(of: newest, in: elements)
        for name in current.keys.sorted() where target[name] == nil {
            version.hiddenClasses.append(name)
            note("class \(name) is removed: it stays with the versions that have it", breaking: true)
        }
        for (name, wanted) in target.sorted(by: { $0.key < $1.key }) {
            let stored = byClass[name]?.first { $0.property == nil }
            if let stored, stored.type != wanted.type {
                throw SchemaProblem(
                    "class \(name) is \(stored.type), and cannot become \(wanted.type): give it another name")
            }
            if current[name] == nil {
                if version.hiddenClasses.contains(name) {
                    version.hiddenClasses.removeAll { $0 == name }
                    note("class \(name) is there again, with its objects", breaking: true)
                } else {
                    added.append(SchemaElement(className: name, type: wanted.type))
                    note("class \(name) is added", breaking: false)
                }
            }
            // The properties of a class that is there again are those that it had.
            var shown = version
            shown.hiddenClasses.removeAll { $0 == name }
            let had = current[name] ?? Self.schema(of: shown, in: byClass[name] ?? [])[name] ?? Class(type: wanted.type)
            try change(name, from: had, to: wanted)
        }
    }

    private mutating func change(_ name: String, from had: Class, to wanted: Class) throws(SchemaProblem) {
        for property in had.properties.keys.sorted() where wanted.properties[property] == nil {
            set(name, property, column: nil)
            note("property \(name).\(property) is removed: it stays with the versions that have it", breaking: true)
        }
        for (property, (type, _)) in wanted.properties.sorted(by: { $0.key < $1.key }) {
            guard let before = had.properties[property] else {
                try add(name, property, type)
                continue
            }
            guard before.type != type else { continue }
            if let old = PropertyType(before.type), let new = PropertyType(type), new.isOptionality(of: old),
                wanted.type != "embedded" || !new.element.nullable
            {
                let stored = columns(of: name, property).first { $0.property == before.column }?.type
                set(name, property, column: before.column, nullable: stored == type ? nil : new.element.nullable)
                note(
                    new.element.nullable
                        ? "property \(name).\(property) becomes optional"
                        : "property \(name).\(property) becomes required: what is null comes as the type's default",
                    breaking: true)
                continue
            }
            if let column = column(of: name, property, type) {
                set(name, property, column: column)
                note("property \(name).\(property) is \(type) again, with the values that it had", breaking: true)
            } else {
                try addColumn(name, property, type)
                note(
                    "property \(name).\(property) becomes \(type): no values are carried over from \(before.type)",
                    breaking: true)
            }
        }
    }

    private mutating func add(_ name: String, _ property: String, _ type: String) throws(SchemaProblem) {
        if let column = column(of: name, property, type) {
            set(name, property, column: column)
            note("property \(name).\(property) is there again, with the values that it had", breaking: true)
        } else if columns(of: name, property).isEmpty {
            added.append(SchemaElement(className: name, property: property, type: type))
            note("property \(name).\(property) is added", breaking: false)
        } else {
            try addColumn(name, property, type)
            note("property \(name).\(property) is there again, as \(type)", breaking: true)
        }
    }

    /// Gives a property to the realm that has a name of its own there.
    private mutating func addColumn(_ name: String, _ property: String, _ type: String) throws(SchemaProblem) {
        let taken = Set(columns(of: name, property).map(\.property))
        var number = newest.number + 1
        while taken.contains(SchemaVersion.column(property, since: number)) { number += 1 }
        let column = SchemaVersion.column(property, since: number)
        guard column.utf8.count <= Self.maxNameBytes else {
            throw SchemaProblem(
                "property \(name).\(property) has too long a name to get another type: give it another name")
        }
        added.append(SchemaElement(className: name, property: column, type: type))
        set(name, property, column: column)
    }

    private func columns(of name: String, _ property: String) -> [SchemaElement] {
        columns[Name(className: name, property: property)] ?? []
    }

    /// The realm's property of a type that had a name before.
    private func column(of name: String, _ property: String, _ type: String) -> String? {
        columns(of: name, property).first { $0.type == type }?.property
    }

    private mutating func set(_ name: String, _ property: String, column: String?, nullable: Bool? = nil) {
        version.properties.removeAll { $0.className == name && $0.name == property }
        // Where it is the realm's of the same name there is nothing to say.
        guard column != property || nullable != nil else { return }
        version.properties.append(.init(className: name, name: property, column: column, nullable: nullable))
    }

    private mutating func note(_ change: String, breaking: Bool) {
        changes.append(change)
        breaks = breaks || breaking
    }
}

/// Why a schema cannot take an app's place.
struct SchemaProblem: Error, Equatable {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

extension String {
    /// A class's type names its key.
    fileprivate var isKeyed: Bool { primaryKey != nil }

    fileprivate var isClassName: Bool {
        (1...ChangesetLimits.maxClassNameBytes).contains(utf8.count) && !utf8.contains(0)
    }

    /// A type that is or is not optional.
    fileprivate func withOptionality(_ nullable: Bool) -> String {
        let plain = hasSuffix("?") ? String(dropLast()) : self
        return nullable ? plain + "?" : plain
    }
}

extension SchemaPlan {
    /// What clients of a version have, in the order of the names; a class comes before its properties.
    static func elements(of version: SchemaVersion, in elements: [SchemaElement]) -> [SchemaElement] {
        schema(of: version, in: elements).sorted { $0.key < $1.key }.flatMap { name, one in
            [SchemaElement(className: name, type: one.type)]
                + one.properties.sorted { $0.key < $1.key }.map {
                    SchemaElement(className: name, property: $0.key, type: $0.value.type)
                }
        }
    }
}
