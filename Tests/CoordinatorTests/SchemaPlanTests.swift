import Changesets
import Documents
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What an app's schema becomes when another one takes its place.
@Suite struct SchemaPlanTests {
    private static let item = SchemaElement(className: "Item", type: "object(_id: objectId)")
    private static let base = [
        SchemaElement(className: "Box", type: "embedded"), property("Box", "size", "int"),
        item, property("Item", "a", "int"), property("Item", "box", "link Box"), property("Item", "note", "string?"),
        property("Item", "title", "string"), SchemaElement(className: "Old", type: "object(_id: int)"),
        property("Old", "x", "int"),
    ]

    private static func property(_ className: String, _ name: String, _ type: String) -> SchemaElement {
        SchemaElement(className: className, property: name, type: type)
    }

    /// A schema with some of its parts replaced; an empty type: without them.
    private static func changed(_ elements: [SchemaElement], _ changes: SchemaElement...) -> [SchemaElement] {
        var result = elements
        for change in changes {
            let index = result.firstIndex { $0.className == change.className && $0.property == change.property }
            if let index, change.type.isEmpty {
                result.remove(at: index)
            } else if let index {
                result[index] = change
            } else {
                result.append(change)
            }
        }
        return result
    }

    private static func app() -> AppRecord { AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1) }

    private static func texts(of version: UInt64, _ app: AppRecord, _ elements: [SchemaElement]) -> [String] {
        SchemaPlan.elements(of: app.schemaVersion(version) ?? SchemaVersion(number: version), in: elements).map {
            "\($0.className)\($0.property.map { "." + $0 } ?? ""): \($0.type)"
        }
    }

    /// Deploys schemas one after another.
    private static func deployed(
        _ schemas: [SchemaElement]...
    ) throws -> (app: AppRecord, elements: [SchemaElement], drafts: [SchemaDraft]) {
        var app = app()
        var elements = base
        var drafts: [SchemaDraft] = []
        for wanted in schemas {
            let draft = try #require(try SchemaPlan.draft(from: elements, app, to: wanted))
            if app.schemas == nil { app.schemas = SchemaVersions() }
            app.schemas?.draft = draft
            app.deploy(draft)
            expectTrue(app.schemas?.draft == nil)
            elements = (elements + draft.added).sorted {
                ($0.className, $0.property ?? "") < ($1.className, $1.property ?? "")
            }
            drafts.append(draft)
        }
        return (app, elements, drafts)
    }

    @Test func pureAdditionsMakeNoSchemaVersion() throws {
        let wanted = Self.changed(
            Self.base, Self.property("Item", "extra", "list<string>"),
            SchemaElement(className: "New", type: "object(_id: int)"))
        let (app, elements, drafts) = try Self.deployed(wanted)
        expectTrue(!drafts[0].isBreaking && drafts[0].added.count == 2)
        expectTrue(app.clientSchemas == nil && app.schemas?.versions.isEmpty == true)
        expectTrue(Self.texts(of: 0, app, elements).contains("Item.extra: list<string>"))
        try expectTrue(SchemaPlan.draft(from: elements, app, to: wanted) == nil)
    }

    @Test func aBreakingChangeMakesAVersionBesideTheOld() throws {
        let wanted = Self.changed(
            Self.base, Self.property("Item", "a", "string?"), Self.property("Item", "title", ""),
            Self.property("Item", "note", "string"), SchemaElement(className: "Old", type: ""),
            Self.property("Old", "x", ""), Self.property("Item", "fresh", "date?"))
        let (app, elements, drafts) = try Self.deployed(wanted)
        expectEqual(app.clientSchemas, SchemaVersionRange(oldest: 0, newest: 1))
        expectEqual(Set(drafts[0].added.map(\.property)), ["a@v1", "fresh"])
        let old = Self.texts(of: 0, app, elements)
        expectTrue(old.contains("Item.a: int") && old.contains("Old.x: int") && old.contains("Item.note: string?"))
        expectTrue(!old.contains { $0.contains("@v") })
        expectEqual(
            Self.texts(of: 1, app, elements),
            [
                "Box: embedded", "Box.size: int", "Item: object(_id: objectId)", "Item.a: string?",
                "Item.box: link Box",
                "Item.fresh: date?", "Item.note: string",
            ])
        expectEqual(drafts[0].changes.count, 5)
    }

    @Test func restoredPropertiesGetTheirOldColumnsBack() throws {
        let second = Self.changed(
            Self.base, Self.property("Item", "a", "string"), SchemaElement(className: "Old", type: ""),
            Self.property("Old", "x", ""))
        let (app, elements, drafts) = try Self.deployed(second, Self.base)
        expectTrue(drafts[1].added.isEmpty && drafts[1].version.number == 2)
        expectEqual(Self.texts(of: 2, app, elements), Self.texts(of: 0, app, elements))
        expectTrue(
            app.schemaVersion(2)?.properties.isEmpty == true && app.schemaVersion(1)?.properties.first?.column == "a@v1"
        )
    }

    @Test func nothingMayLinkToAnAsymmetricClass() throws {
        let wanted = Self.changed(
            Self.base, SchemaElement(className: "Reading", type: "asymmetric(_id: int)"),
            Self.property("Item", "last", "link Reading"))
        let problem = #expect(throws: SchemaProblem.self) {
            try SchemaPlan.draft(from: Self.base, Self.app(), to: wanted)
        }
        expectEqual(problem?.reason.contains("Item.last links to Reading, which is asymmetric"), true)
    }

    @Test func optionalityKeepsTheValues() throws {
        let (app, elements, drafts) = try Self.deployed(
            Self.changed(Self.base, Self.property("Item", "title", "string?"), Self.property("Item", "note", "string")),
            Self.changed(Self.base, Self.property("Item", "note", "string")))
        expectTrue(drafts.allSatisfy { $0.added.isEmpty })
        expectTrue(Self.texts(of: 1, app, elements).contains("Item.title: string?"))
        expectTrue(Self.texts(of: 2, app, elements).contains("Item.title: string"))
        // The author of an embedded object could not be told what its null has become.
        let embedded = try Self.deployed(Self.changed(Self.base, Self.property("Box", "size", "int?")))
        expectEqual(embedded.drafts[0].added.map(\.property), ["size@v1"])
    }

    @Test(arguments: [
        (property("Item", "a", "strin"), "expected such as"), (property("Item", "b", "link None"), "not in the schema"),
        (SchemaElement(className: "Old", type: "embedded"), "give it another name"),
        (property("Item", "a@v1", "int"), "no name"), (property("Nowhere", "a", "int"), "not in the schema"),
        (SchemaElement(className: "Box", type: ""), "not in the schema"),
        // The owner of the app's realm would refuse these once they are in force.
        (property("Item", "boxes", "set<link Box>"), "Item.boxes cannot be declared"),
        (property("Item", "_id", "int"), "Item._id cannot be declared"),
    ])
    func impossibleChangesAreRefused(_ change: SchemaElement, _ words: String) {
        do throws(SchemaProblem) {
            _ = try SchemaPlan.draft(from: Self.base, Self.app(), to: Self.changed(Self.base, change))
            Issue.record("nothing was refused")
        } catch {
            expectTrue(error.reason.contains(words))
        }
    }

    /// A draft is for the schema that it was made from.
    @Test func aDraftOfAnotherSchemaIsNotDeployed() throws {
        var (app, elements, _) = try Self.deployed(Self.changed(Self.base, Self.property("Item", "a", "string")))
        let draft = try #require(try SchemaPlan.draft(from: elements, app, to: Self.base))
        app.schemas?.draft = draft
        app.clientSchemas?.newest = 7
        app.deploy(draft)
        expectTrue(app.schemas?.draft == draft && app.schemas?.versions.count == 2)
        let newer = try #require(try SchemaPlan.draft(from: elements, app, to: Self.base))
        expectEqual(newer.version.number, 8)
    }

    @Test func aRealmDeclaresWhatIsNew() throws {
        let changeset = try #require(
            DeclaredSchema(Self.base).changeset(
                adding: [Self.property("Item", "boxes", "list<link Box>"), Self.property("Item", "a@v1", "string?")]))
        expectEqual(changeset.instructions.count, 5)
        guard case .addColumn(let boxes) = changeset.instructions[3] else {
            Issue.record("no column")
            return
        }
        expectTrue(boxes.type == .link && !boxes.nullable && boxes.collection == .list)
        expectTrue(DeclaredSchema(Self.base).changeset(adding: []) == nil)
    }
}
