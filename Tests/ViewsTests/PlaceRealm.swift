import Changesets
import RealmState
import Rules
import SyncModel
import Testing

@testable import Views

/// A class with a place of its own, places in a list and inside another object, a mixed property and a link.
enum PlaceRealm {
    static let schema: Schema = {
        var state = RealmState()
        var changeset = Changeset()
        func table(_ name: ByteString, _ kind: (inout Changeset) -> Instruction.AddTable.Kind) {
            let table = changeset.strings.intern(name)
            let kind = kind(&changeset)
            changeset.instructions.append(.addTable(.init(table: table, kind: kind)))
        }
        func column(
            _ table: ByteString, _ name: ByteString, _ type: PayloadType, _ collection: CollectionType = .single,
            to target: ByteString? = nil
        ) {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: changeset.strings.intern(table), field: changeset.strings.intern(name), type: type,
                        nullable: type == .null || type == .link && collection == .single, collection: collection,
                        linkTarget: target.map { changeset.strings.intern($0) })))
        }
        table("Point") { _ in .embedded }
        table("Address") { _ in .embedded }
        table("Shop") {
            .topLevel(keyField: $0.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
        }
        column("Point", "type", .string)
        column("Point", "coordinates", .double, .list)
        column("Address", "at", .link, to: "Point")
        column("Shop", "name", .string)
        column("Shop", "value", .null)
        column("Shop", "location", .link, to: "Point")
        column("Shop", "branches", .link, .list, to: "Point")
        column("Shop", "address", .link, to: "Address")
        column("Shop", "parent", .link, to: "Shop")
        column("Shop", "hidden", .link, to: "Point")
        do { try state.apply(changeset) } catch { Issue.record("\(error)") }
        return state.schema
    }()

    static func column(_ name: ByteString, of table: ByteString = "Shop") throws -> ColumnID {
        try #require(schema.table(table)?.column(name)?.id)
    }

    static func view(_ query: String) throws -> View {
        let rules = try #require(RulesCheck(Array(#"{"defaultRoles": "readAndWriteAll"}"#.utf8)).document)
        let queries = JSONWriter.text(of: ["Shop": .string(query)])
        return try View(
            ViewDefinition(version: 1, queries: queries, roles: rules.closedRoles(of: RuleUser(id: "u")).text),
            schema: schema)
    }

    static func queryable(_ json: String) throws -> Queryable {
        try #require(RulesCheck(Array(#"{"queryable": \#(json)}"#.utf8)).document).queryable
    }
}
