package import Changesets
package import RealmState
package import SyncModel

/// An app's classes and properties as they are recorded, and the instructions that declare them in realms. Pure.
package struct DeclaredSchema: Sendable {
    private let elements: [SchemaElement]

    package init(_ elements: [SchemaElement]) { self.elements = elements }

    /// The changeset that adds classes and properties to the schema of a realm, which may have none of the app's yet; nil if there is nothing to add.
    package func changeset(adding added: [SchemaElement]) -> Changeset? {
        guard !added.isEmpty else { return nil }
        var changeset = Changeset()
        var seen: Set<String> = []
        for element in elements + added where element.property == nil && seen.insert(element.className).inserted {
            guard let kind = Self.kind(element.type, &changeset.strings) else { continue }
            changeset.instructions.append(
                .addTable(.init(table: changeset.strings.intern(ByteString(element.className)), kind: kind)))
        }
        for element in added { changeset.declareProperty(element) }
        return changeset
    }

    /// The changeset that declares those of the app's properties of some classes, and of all classes that these lead to, that a realm lacks; nil if
    /// it lacks none.
    package func changeset(declaring classes: Set<ByteString>, in schema: Schema) -> Changeset? {
        let byClass = Dictionary(grouping: elements, by: \.className)
        var changeset = Changeset()
        var declared: Set<String> = []
        var waiting = classes.map(\.string).sorted()
        var properties: [SchemaElement] = []
        while let name = waiting.popLast() {
            guard declared.insert(name).inserted, let elements = byClass[name] else { continue }
            let table = schema.table(ByteString(name))
            if table == nil, let type = elements.first(where: { $0.property == nil })?.type,
                let kind = Self.kind(type, &changeset.strings)
            {
                changeset.instructions.append(
                    .addTable(.init(table: changeset.strings.intern(ByteString(name)), kind: kind)))
            }
            for element in elements {
                guard let property = element.property, let type = PropertyType(element.type) else { continue }
                if let target = type.target { waiting.append(target) }
                if table?.column(ByteString(property)) == nil { properties.append(element) }
            }
        }
        for element in properties { changeset.declareProperty(element) }
        return changeset.instructions.isEmpty ? nil : changeset
    }

    /// Whether the app has a class whose objects are documents of their own.
    package func hasDocuments(of className: ByteString) -> Bool {
        elements.contains {
            $0.property == nil && $0.className == className.string && $0.type.hasPrefix("object(")
        }
    }

    /// A realm's schema with everything declared that the app has of a class and of those that it leads to.
    package func schema(declaring className: ByteString, in schema: Schema) -> Schema {
        guard let changeset = changeset(declaring: [className], in: schema) else { return schema }
        var state = RealmState(schema: schema)
        // What cannot be declared beside the realm's own is left out: whoever asks for it hears that it is unknown.
        guard (try? state.apply(changeset)) != nil else { return schema }
        return state.schema
    }

    /// A class's kind by its type, such as `object(_id: int)`; nil for what is no such type.
    private static func kind(_ type: String, _ strings: inout InternTable) -> Instruction.AddTable.Kind? {
        if type == "embedded" { return .embedded }
        guard let (name, keyType) = type.primaryKey, let key = PropertyType(keyType) else { return nil }
        return .topLevel(
            keyField: strings.intern(ByteString(name)), keyType: key.element.type, keyNullable: key.element.nullable,
            asymmetric: type.hasPrefix("asymmetric"))
    }
}

extension Changeset {
    fileprivate mutating func declareProperty(_ element: SchemaElement) {
        guard let property = element.property, let type = PropertyType(element.type) else { return }
        instructions.append(
            .addColumn(
                .init(
                    table: strings.intern(ByteString(element.className)), field: strings.intern(ByteString(property)),
                    type: type.element.type, nullable: type.element.nullable, collection: type.collection,
                    linkTarget: type.element.target.map { strings.intern($0) },
                    keyType: type.collection == .dictionary ? .string : nil)))
    }
}

extension String {
    /// The primary key in a class's type, such as `object(_id: int)`: its name and its type; nil if there is none.
    package var primaryKey: (name: String, type: String)? {
        guard hasPrefix("object(") || hasPrefix("asymmetric("), hasSuffix(")"), let open = firstIndex(of: "("),
            let colon = self[open...].firstIndex(of: ":")
        else { return nil }
        return (
            String(self[index(after: open)..<colon]),
            String(self[index(after: colon)...].dropLast().trimmingPrefix(" "))
        )
    }
}
