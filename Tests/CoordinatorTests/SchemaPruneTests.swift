import Changesets
import RealmState
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What of an app's schema may be taken back, and what becomes of it.
@Suite(.needsBroker, .hangGuard) struct SchemaPruneTests {
    /// A schema of classes with the key `_id`, embedded ones without, and properties: strings, or lists of an embedded class.
    private static func schema(
        _ classes: [(name: String, isEmbedded: Bool, properties: [(name: String, listOf: String?)])]
    ) throws -> Schema {
        var strings = InternTable()
        var instructions: [Instruction] = []
        for declared in classes {
            let table = strings.intern(ByteString(declared.name))
            let key = strings.intern("_id")
            instructions.append(
                .addTable(
                    .init(
                        table: table,
                        kind: declared.isEmbedded
                            ? .embedded
                            : .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false))))
            for property in declared.properties {
                let target = property.listOf.map { strings.intern(ByteString($0)) }
                instructions.append(
                    .addColumn(
                        .init(
                            table: table, field: strings.intern(ByteString(property.name)),
                            type: target == nil ? .string : .link, nullable: false,
                            collection: target == nil ? .single : .list, linkTarget: target)))
            }
        }
        var state = RealmState()
        try state.apply(Changeset(strings: strings, instructions: instructions))
        return state.schema
    }

    /// A realm with a task, whose title is set, and a class that nobody uses.
    private static func fill(_ harness: CoordinatorHarness) async throws {
        let schema = try schema([
            ("Task", false, [("title", nil), ("junk", nil)]), ("Junk", false, []),
        ])
        let table = try #require(schema.table("Task"))
        let title = try #require(table.column("title"))
        let task = StoredObject([title.id: .string("one")])
        let name = RealmName(app: "tasks", partition: "\"p\"")
        let store = try await SQLiteStores(folder: harness.folder).store(for: name.slice(of: harness.slices))
        let claim = try await store.claim(by: "w", now: 1, leaseUntil: 2, gone: nil)
        guard case .owned(let epoch) = claim else { throw StoreError(.fenced, "not owned") }
        var batch = SliceBatch()
        batch.realms = [
            RealmRecord(
                id: RealmID(1), name: name, generation: 1, salt: 1, saltEpoch: epoch, schema: schema.encoded())
        ]
        batch.objects = [RealmID(1): [ObjectRow(table: table.id.rawValue, key: .int(1)): task.encoded()]]
        try await store.commit(batch, epoch: epoch)
    }

    private static let declared = [
        SchemaElement(className: "Task", type: "object(_id: int)"),
        SchemaElement(className: "Task", property: "title", type: "string"),
        SchemaElement(className: "Task", property: "junk", type: "string"),
        SchemaElement(className: "Junk", type: "object(_id: int)"),
        SchemaElement(className: "Gone", type: "embedded"),
    ]

    @Test func schemaElementsThatNoObjectUsesArePruned() async throws {
        try await CoordinatorHarness.with { harness in
            try await Self.fill(harness)
            try await harness.withCoordinator { coordinator in
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks"}"#)
                try await harness.store.extendSchema(ofApp: "tasks", with: Self.declared)
                let dry = try await coordinator.request("POST", "apps/tasks/schema/prune", #"{"dryRun":true}"#)
                expectTrue(dry.status == 200 && dry["count"] == "3" && dry["kept"] == "2")
                try await expectEqual(harness.store.schema(ofApp: "tasks").count, 5)
                let done = try await coordinator.request("POST", "apps/tasks/schema/prune", "{}")
                expectTrue(done["count"] == "3" && done["pruned.classes.0.name"] == "Gone")
                let left = try await harness.store.schema(ofApp: "tasks")
                expectEqual(Set(left), Set(Self.declared.prefix(2)))
                let audit = try await coordinator.request("GET", "audit")
                expectEqual(audit["entries.0.path"]?.hasSuffix("apps/tasks/schema/prune"), true)
                try await expectEqual(coordinator.request("POST", "apps/none/schema/prune", "{}").status, 404)
            }
        }
    }

    @Test func withoutDevelopmentModeWhatSomeRealmDeclaresStays() async throws {
        try await CoordinatorHarness.with { harness in
            try await Self.fill(harness)
            try await harness.withCoordinator { coordinator in
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks","developmentMode":false}"#)
                try await harness.store.extendSchema(ofApp: "tasks", with: Self.declared)
                let done = try await coordinator.request("POST", "apps/tasks/schema/prune", "{}")
                expectTrue(done["count"] == "1" && done["pruned.classes.0.name"] == "Gone")
                let all = try await coordinator.request("POST", "apps/tasks/schema/prune", #"{"declared":true}"#)
                expectEqual(all["count"], "2")
            }
        }
    }

    @Test func embeddedObjectsCountAsUsed() throws {
        let schema = try Self.schema([
            ("Item", true, [("name", nil), ("junk", nil)]), ("Cart", false, [("items", "Item")]),
        ])
        let (item, cart) = (try #require(schema.table("Item")), try #require(schema.table("Cart")))
        let name = try #require(item.column("name"))
        let items = try #require(cart.column("items"))
        var survey = SchemaSurvey()
        survey.add(schema)
        expectTrue(!survey.isUsed(schema))
        let inner = StoredObject([name.id: .string("nut")])
        survey.add(StoredObject([items.id: .list([.embedded(inner)])]), of: cart, in: schema)
        let elements = ["name", "junk"].map { SchemaElement(className: "Item", property: $0, type: "string") }
        expectEqual(survey.unused(of: elements, inDevelopmentMode: true, declaredToo: false).map(\.property), ["junk"])
        expectTrue(!survey.isUsed(schema))
    }
}
