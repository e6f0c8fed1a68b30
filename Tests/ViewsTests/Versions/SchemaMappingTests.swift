import Changesets
import RealmState
import Rules
import SyncModel
import TestSupport
import Testing

@testable import Views

/// What clients of a schema version have of a realm, and what becomes of what they write.
@Suite struct SchemaMappingTests {
    private typealias Sample = VersionedSample

    private static func visible(_ mapping: SchemaMapping, _ name: ByteString) -> [String: PayloadType]? {
        mapping.visible.table(name).map { table in
            Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name.string, $0.element.type) })
        }
    }

    @Test func eachVersionHasItsOwnSchema() throws {
        let old = try #require(SchemaMapping(Sample.old, of: Sample.schema))
        expectEqual(
            Self.visible(old, "Item"),
            [
                "a": .int, "b": .int, "note": .string, "gone": .string, "part": .link, "any": .null,
            ])
        expectTrue(Self.visible(old, "Old") != nil)
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema))
        expectEqual(Self.visible(new, "Item"), ["a": .string, "b": .int, "note": .string, "part": .link, "any": .null])
        expectTrue(Self.visible(new, "Old") == nil)
        let item = try #require(new.visible.table("Item"))
        expectTrue(item.column("b")?.element.nullable == true && item.column("note")?.element.nullable == false)
        expectEqual(item.column("a")?.id, Sample.schema.table("Item")?.column("a@v1")?.id)
    }

    @Test func schemaWithoutDifferencesNeedsNoMapping() throws {
        var state = RealmState()
        try state.apply(Sample.changeset(Sample.declare("Item", [("a", .int, false)])))
        expectTrue(SchemaMapping(nil, of: state.schema) == nil)
        expectTrue(SchemaMapping(SchemaVersion(number: 0), of: state.schema) == nil)
        // Also to clients of which no version is known nobody shows what is another version's alone.
        expectTrue(SchemaMapping(nil, of: Sample.schema) != nil)
    }

    /// What goes out has the names and types of the version, and no string of what does not go out.
    @Test func aHistoryGoesOutAsTheVersionHasIt() throws {
        let changeset = Sample.changeset(
            Sample.create("Item", 1), Sample.set("Item", 1, ["a"], .int(5)),
            Sample.set("Item", 1, ["a@v1"], .string("new")),
            Sample.set("Item", 1, ["note"], .null), Sample.set("Item", 1, ["gone"], .string("secret")),
            Sample.set("Item", 1, ["part"], .objectValue), Sample.set("Item", 1, ["part", "p"], .null),
            Sample.create("Old", 7), Sample.link("Item", 1, "any", to: "Old", 7))
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema)).outgoing(changeset).changeset
        expectEqual(
            Sample.texts(new),
            [
                "create Item 1", "Item.1.b = int 0", "Item.1.a = string new", "Item.1.note = string ",
                "Item.1.part = object",
                "Item.1.part.p = string ", "Item.1.any = null",
            ])
        expectTrue(
            new.strings.find("secret") == nil && new.strings.find("gone") == nil && new.strings.find("Old") == nil)
        let old = try #require(SchemaMapping(Sample.old, of: Sample.schema)).outgoing(changeset).changeset
        expectEqual(Sample.texts(old).count, changeset.instructions.count - 1)
        expectTrue(!Sample.texts(old).contains { $0.contains("a@v1") || $0.contains("new") })
    }

    @Test func clientWritesComeInUnderTheRealmsNames() throws {
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema))
        let incoming = try new.incoming(
            Sample.changeset(
                Sample.declare("Item", [("a", .string, true), ("b", .int, true), ("note", .string, false)]),
                Sample.set("Item", 1, ["a"], .string("x")), Sample.set("Item", 1, ["b"], .null),
                Sample.set("Item", 1, ["part", "p"], .string("y"))))
        expectEqual(
            Sample.texts(incoming),
            [
                "class Item", "Item.a@v1: string?", "Item.b: int", "Item.note: string?", "Item.1.a@v1 = string x",
                "Item.1.b = int 0", "Item.1.part.p = string y",
            ])
    }

    @Test(
        arguments: [
            (Sample.declare("Item", [("gone", .string, true)]), true), (Sample.declare("Old", []), true),
            (Sample.declare("Item", [("a", .int, false)]), true),
            (Sample.declare("Item", [("a@v1", .string, true)]), true),
            (Sample.set("Item", 1, ["gone"], .string("x")), false), (Sample.create("Old", 1), false),
            (Sample.set("Item", 1, ["a@v1"], .string("x")), false),
        ] as [(@Sendable (inout Changeset) -> Void, Bool)])
    func elementsOutsideTheVersionAreRefused(_ body: @Sendable @escaping (inout Changeset) -> Void, _ isOfSchema: Bool)
        throws
    {
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema))
        do throws(SchemaMapping.Refusal) {
            _ = try new.incoming(Sample.changeset(body))
            Issue.record("nothing was refused")
        } catch {
            if case .schema = error { expectTrue(isOfSchema) } else { expectTrue(!isOfSchema) }
        }
    }

    /// A realm may not have a version's property yet: the version's client brings it.
    @Test func aRealmGetsAVersionsPropertyByAClient() throws {
        var state = RealmState()
        try state.apply(Sample.changeset(Sample.declare("Item", [("a", .int, false)])))
        let new = try #require(SchemaMapping(Sample.new, of: state.schema))
        let incoming = try new.incoming(
            Sample.changeset(
                Sample.declare("Item", [("a", .string, true), ("b", .int, true)]), Sample.create("Item", 1),
                Sample.set("Item", 1, ["a"], .string("x")), Sample.set("Item", 1, ["b"], .null)))
        expectEqual(Sample.texts(incoming).suffix(3), ["create Item 1", "Item.1.a@v1 = string x", "Item.1.b = int 0"])
        try state.apply(incoming)
        expectEqual(state.schema.table("Item")?.column("b")?.element.nullable, false)
    }

    @Test func objectsAreReadAsTheVersionHasThem() throws {
        var state = Sample.state
        try state.apply(
            Sample.changeset(
                Sample.create("Item", 1), Sample.set("Item", 1, ["note"], .null),
                Sample.set("Item", 1, ["part"], .objectValue),
                Sample.set("Item", 1, ["part", "p"], .null)))
        let table = try #require(Sample.schema.table("Item"))
        let stored = try #require(state.object(ObjectAddress("Item", .int(1))))
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema))
        let object = new.projected(stored, of: table.id)
        let shown = try #require(new.visible.table("Item"))
        func value(_ name: ByteString) -> Value? { shown.column(name).map { object[$0] } }
        expectEqual(value("note"), .string(""))
        // The property was never set, and is not null: the realm's property never is.
        expectEqual(value("b"), .int(0))
        guard case .embedded(let part) = value("part") else {
            Issue.record("no part")
            return
        }
        expectEqual(part[try #require(new.visible.table("Part")?.column("p"))], .string(""))
    }

    @Test func anAuthorIsToldWhatBecameOfItsNulls() throws {
        var state = Sample.state
        let new = try #require(SchemaMapping(Sample.new, of: Sample.schema))
        let changeset = try new.incoming(
            Sample.changeset(
                Sample.create("Item", 1), Sample.create("Item", 2), Sample.set("Item", 2, ["b"], .int(4)),
                Sample.set("Item", 3, ["b"], .null), Sample.create("Item", 4)))
        try state.apply(Sample.changeset(Sample.create("Item", 3), Sample.set("Item", 3, ["b"], .int(9))))
        try state.apply(changeset)
        try state.apply(
            Sample.changeset(Sample.erase("Item", 4))
        )
        let told = try new.told(of: changeset) { state.object($0) }
        expectEqual(Sample.texts(told), ["Item.1.b = int 0", "Item.3.b = int 0"])
    }

    /// Rules see a property that a version lacks, and the realm's values.
    @Test func rolesJudgeTheRealmsObject() throws {
        let roles = try Sample.roles(filter: #"{"gone": "open"}"#)
        for version in [Sample.old, Sample.new] {
            let view = try View(
                ViewDefinition(version: 1, queries: #"{"Item": "TRUEPREDICATE"}"#, roles: roles), schema: Sample.schema,
                version: version)
            let table = try #require(Sample.schema.table("Item"))
            let gone = try #require(table.column("gone"))
            expectTrue(view.contains(StoredObject([gone.id: .string("open")]), table.id, .int(1)))
            expectTrue(!view.contains(StoredObject([gone.id: .string("closed")]), table.id, .int(1)))
        }
    }

    @Test func queriesAreAboutTheVersionsSchema() throws {
        let roles = try Sample.roles(filter: "true")
        func view(_ query: String, _ version: SchemaVersion) throws(ViewError) -> View {
            try View(
                ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: roles), schema: Sample.schema,
                version: version)
        }
        let table = try #require(Sample.schema.table("Item"))
        let object = StoredObject([
            try #require(table.column("a")).id: .int(5), try #require(table.column("a@v1")).id: .string("x"),
            try #require(table.column("note")).id: .null,
        ])
        try expectTrue(view("a == 5", Sample.old).contains(object, table.id, .int(1)))
        try expectTrue(view("a == \\\"x\\\"", Sample.new).contains(object, table.id, .int(1)))
        #expect(throws: ViewError.self) { try view("gone == \\\"x\\\"", Sample.new) }
        #expect(throws: ViewError.self) { try view("a == 5", Sample.new) }
        // What is null in the realm is found as what the version has in its place, and not by the realm's indexes.
        let note = try view("note == \\\"\\\"", Sample.new)
        expectTrue(note.contains(object, table.id, .int(1)))
        expectTrue(note["Item"]?.anchor == nil && note["Item"]?.accesses == [])
        expectTrue(!(try view("note == \\\"\\\"", Sample.old).contains(object, table.id, .int(1))))
    }
}

/// A realm with two schema versions. Since version 1 `a` is a string, `note` and `Part.p` are required, `b` is optional, `gone` and class `Old`
/// are gone.
enum VersionedSample {
    static let old = SchemaVersion(number: 0)
    static let new = SchemaVersion(
        number: 1, hiddenClasses: ["Old"],
        properties: [
            .init(className: "Item", name: "a", column: "a@v1"),
            .init(className: "Item", name: "b", column: "b", nullable: true),
            .init(className: "Item", name: "gone", column: nil),
            .init(className: "Item", name: "note", column: "note", nullable: false),
            .init(className: "Part", name: "p", column: "p", nullable: false),
        ])

    static let state: RealmState = {
        var state = RealmState()
        try? state.apply(
            changeset(
                { changeset in
                    let part = changeset.strings.intern("Part")
                    changeset.instructions.append(.addTable(.init(table: part, kind: .embedded)))
                }, column("Part", "p", .string, true),
                declare(
                    "Item",
                    [
                        ("a", .int, false), ("b", .int, false), ("note", .string, true), ("gone", .string, true),
                        ("any", .null, true),
                    ]),
                column("Item", "part", .link, true, to: "Part"), declare("Old", [("x", .int, false)]),
                column("Item", "a@v1", .string, true)))
        return state
    }()
    static var schema: Schema { state.schema }

    static func roles(filter: String) throws -> String {
        let text = #"""
            {"queryable": {"global": ["a", "note", "gone"]}, "defaultRoles": [{"name": "r", "apply_when": {}, "read": true, "write": true,
             "document_filters": {"read": \#(filter), "write": \#(filter)}}]}
            """#
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    static func changeset(_ changes: ((inout Changeset) -> Void)...) -> Changeset {
        var changeset = Changeset()
        for change in changes { change(&changeset) }
        return changeset
    }

    static func column(
        _ name: ByteString, _ field: ByteString, _ type: PayloadType, _ nullable: Bool, to target: ByteString? = nil
    ) -> @Sendable (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: changeset.strings.intern(name), field: changeset.strings.intern(field), type: type,
                        nullable: nullable,
                        collection: .single, linkTarget: target.map { changeset.strings.intern($0) })))
        }
    }

    static func declare(
        _ name: ByteString, _ columns: [(ByteString, PayloadType, Bool)]
    ) -> @Sendable (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(
                .addTable(
                    .init(
                        table: changeset.strings.intern(name),
                        kind: .topLevel(
                            keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false,
                            asymmetric: false))))
            for (field, type, nullable) in columns { column(name, field, type, nullable)(&changeset) }
        }
    }

    static func erase(_ name: ByteString, _ key: Int64) -> @Sendable (inout Changeset) -> Void {
        { $0.instructions.append(.eraseObject(table: $0.strings.intern(name), object: .int(key))) }
    }

    static func create(_ name: ByteString, _ key: Int64) -> @Sendable (inout Changeset) -> Void {
        { $0.instructions.append(.createObject(table: $0.strings.intern(name), object: .int(key))) }
    }

    static func set(
        _ name: ByteString, _ key: Int64, _ path: [ByteString], _ value: Payload
    ) -> @Sendable (inout Changeset) -> Void {
        { changeset in
            var target = FieldPath(
                table: changeset.strings.intern(name), object: .int(key), field: changeset.strings.intern(path[0]))
            for step in path.dropFirst() { target.path.append(.key(changeset.strings.intern(step))) }
            changeset.instructions.append(.update(.init(target: target, value: value, qualifier: .isDefault(false))))
        }
    }

    static func link(
        _ name: ByteString, _ key: Int64, _ field: ByteString, to target: ByteString, _ other: Int64
    ) -> @Sendable (inout Changeset) -> Void {
        { changeset in
            let table = changeset.strings.intern(target)
            set(name, key, [field], .link(table: table, key: .int(other)))(&changeset)
        }
    }

    /// A changeset's instructions in words.
    static func texts(_ changeset: Changeset) -> [String] {
        func name(_ string: InternedString) -> String { changeset.strings[string]?.string ?? "?" }
        func key(_ key: PrimaryKey) -> String { if case .int(let value) = key { "\(value)" } else { "?" } }
        func value(_ payload: Payload) -> String {
            switch payload {
            case .int(let value): "int \(value)"
            case .string(let value): "string \(value.string)"
            case .null: "null"
            case .objectValue: "object"
            case .link(let table, let object): "link \(name(table)) \(key(object))"
            default: "?"
            }
        }
        return changeset.instructions.map { instruction in
            switch instruction {
            case .addTable(let table): return "class \(name(table.table))"
            case .addColumn(let column):
                return "\(name(column.table)).\(name(column.field)): \(column.type)\(column.nullable ? "?" : "")"
            case .createObject(let table, let object): return "create \(name(table)) \(key(object))"
            case .update(let update):
                let path = update.target.path.map { if case .key(let step) = $0 { "." + name(step) } else { ".?" } }
                    .joined()
                return
                    "\(name(update.target.table)).\(key(update.target.object)).\(name(update.target.field))\(path) = \(value(update.value))"
            default: return instruction.name
            }
        }
    }
}
