import Changesets
import Messages
import RealmState
import Rules
import SeededRandom
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// Clients of two schema versions in one realm. In version 1 the items' `a` is a string, `note` is required, `b` is optional, and neither `gone`
/// nor class `Old` is there.
@Suite struct VersionedSchemaTests {
    private static let queries = #"{"Item": "TRUEPREDICATE"}"#
    private static let versions = [
        SchemaVersion(number: 0),
        SchemaVersion(
            number: 1, hiddenClasses: ["Old"],
            properties: [
                .init(className: "Item", name: "a", column: "a@v1"),
                .init(className: "Item", name: "b", column: "b", nullable: true),
                .init(className: "Item", name: "gone", column: nil),
                .init(className: "Item", name: "note", column: "note", nullable: false),
            ]),
    ]
    private static let added = [SchemaElement(className: "Item", property: "a@v1", type: "string?")]

    private static func declare(_ name: ByteString, _ columns: [(ByteString, PayloadType, Bool)]) -> [UInt8] {
        var changeset = Changeset()
        let table = changeset.strings.intern(name)
        changeset.instructions.append(
            .addTable(
                .init(
                    table: table,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )))
        for (field, type, nullable) in columns {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: table, field: changeset.strings.intern(field), type: type, nullable: nullable,
                        collection: .single)))
        }
        return changeset.encoded()
    }

    private static let oldItem = declare(
        "Item", [("a", .int, false), ("b", .int, false), ("note", .string, true), ("gone", .string, true)])
    private static let newItem = declare("Item", [("a", .string, true), ("b", .int, true), ("note", .string, false)])

    private static func write(_ key: Int64, creates: Bool = false, _ values: [(ByteString, Payload)]) -> (
        inout Changeset
    ) -> Void {
        { changeset in
            let table = changeset.strings.intern("Item")
            if creates { changeset.instructions.append(.createObject(table: table, object: .int(key))) }
            for (field, value) in values {
                let path = FieldPath(table: table, object: .int(key), field: changeset.strings.intern(field))
                changeset.instructions.append(
                    .update(.init(target: path, value: value, qualifier: .isDefault(false))))
            }
        }
    }

    private static func erase(_ key: Int64) -> (inout Changeset) -> Void {
        { $0.instructions.append(.eraseObject(table: $0.strings.intern("Item"), object: .int(key))) }
    }

    /// The items of a client's copy, or of a realm as a version has it.
    private static func items(_ objects: [(key: ObjectKey, object: StoredObject)], _ schema: Schema) -> [Int64: [String:
        Value]]
    {
        guard let table = schema.table("Item") else { return [:] }
        return objects.reduce(into: [:]) { items, entry in
            guard case .int(let key) = entry.key else { return }
            items[key] = table.columns.reduce(into: [:]) { $0[$1.name.string] = entry.object[$1] }
        }
    }

    private static func items(_ client: ViewingClient) -> [Int64: [String: Value]] {
        items(client.state.objects(of: "Item"), client.state.schema)
    }

    private static func items(_ harness: OwnerHarness, version: Int) async throws -> [Int64: [String: Value]] {
        let record = try await harness.record()
        let schema = try Schema(decoding: record.schema)
        let mapping = try #require(SchemaMapping(versions[version], of: schema))
        let table = try #require(schema.table("Item")).id
        let objects = try await harness.store.objects(in: record.id, after: nil, maxBytes: .max)
            .filter { $0.row.table == table.rawValue }
            .map { ($0.row.key, mapping.projected(try StoredObject(decoding: $0.body), of: table)) }
        return items(objects, mapping.visible)
    }

    /// Returns the roles of a user who may read and write everything.
    private static func roles() throws -> String {
        let text = #"""
            {"queryable": {"global": ["a", "b", "note", "gone"]},
             "defaultRoles": [{"name": "r", "apply_when": {}, "read": true, "write": true,
               "document_filters": {"read": true, "write": true}}]}
            """#
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    private static func join(
        _ harness: OwnerHarness, _ session: UInt64, version: UInt64, subscribes: Bool = true
    ) async throws -> ViewingClient {
        var client = try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try roles(), schemaVersion: version)
        try await client.download(from: harness)
        if subscribes { try await expectTrue(client.bootstrap(1, queries, from: harness) == nil) }
        return client
    }

    /// A realm of version 0, with what deploying version 1 does.
    private static func begun(publishes: Bool = true) async throws -> (OwnerHarness, ViewingClient) {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        _ = try await harness.control.updateApp(OwnerHarness.app) {
            $0.clientSchemas = SchemaVersionRange(oldest: 0, newest: 0)
        }
        var old = try await join(harness, 1, version: 0, subscribes: false)
        try old.make(oldItem, at: 1)
        try old.make(declare("Old", [("x", .int, false)]), at: 2)
        try await old.upload(to: harness)
        try await old.download(from: harness)
        try await expectTrue(old.bootstrap(1, queries, from: harness) == nil)
        try await deploy(harness, publishes: publishes)
        return (harness, old)
    }

    /// - Parameter publishes: whether the realm has what is new before a client comes with it.
    private static func deploy(_ harness: OwnerHarness, publishes: Bool) async throws {
        try await harness.control.extendSchema(ofApp: OwnerHarness.app, with: added)
        if publishes {
            var changeset = Changeset()
            let table = changeset.strings.intern("Item")
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: table, field: changeset.strings.intern("a@v1"), type: .string, nullable: true,
                        collection: .single)))
            _ = try await harness.send(
                ChangesetMessage(
                    realm: harness.realm, upload: nil,
                    entries: [UploadedChangeset(timestamp: 0, changeset: changeset.encoded())]))
        }
        _ = try await harness.control.updateApp(OwnerHarness.app) {
            $0.developmentMode = false
            $0.clientSchemas = SchemaVersionRange(oldest: 0, newest: 1)
            $0.schemas = SchemaVersions(versions: versions)
        }
    }

    @Test func bothVersionsAreServed() async throws {
        let (harness, client) = try await Self.begun()
        var old = client
        try old.write(
            at: 10,
            Self.write(1, creates: true, [("a", .int(7)), ("b", .int(3)), ("note", .null), ("gone", .string("x"))]))
        try await old.upload(to: harness)

        var new = try await Self.join(harness, 2, version: 1)
        expectTrue(new.state.schema.table("Old") == nil)
        try new.make(Self.newItem, at: 11)
        expectEqual(
            Self.items(new)[1], ["a": .null, "b": .int(3), "note": .string("")],
            "values of a retyped property are not carried over")
        try new.write(at: 12, Self.write(1, [("a", .string("seven")), ("note", .string("n"))]))
        try new.write(at: 13, Self.write(2, creates: true, [("a", .string("two"))]))
        try await new.upload(to: harness)
        try await old.download(from: harness)
        try await new.download(from: harness)
        expectEqual(
            Self.items(old),
            [
                1: ["a": .int(7), "b": .int(3), "note": .string("n"), "gone": .string("x")],
                2: ["a": .int(0), "b": .int(0), "note": .null, "gone": .null],
            ])
        // What its own null has become the author is told.
        expectEqual(
            Self.items(new),
            [
                1: ["a": .string("seven"), "b": .int(3), "note": .string("n")],
                2: ["a": .string("two"), "b": .int(0), "note": .string("")],
            ])
        expectTrue(new.told.isEmpty && old.told.isEmpty)
    }

    /// A client that opens its copy with another version writes under the one that it was made with until it begins anew.
    @Test func aMigratingClientIsServedByTheVersionOfItsCopy() async throws {
        let (harness, client) = try await Self.begun()
        var old = client
        try old.write(at: 10, Self.write(1, creates: true, [("a", .int(7)), ("gone", .string("x"))]))
        old.schemaVersion = 1
        try await old.connect(to: harness, session: 5, user: "u1")
        expectEqual(old.previousSchemaVersion, 0)
        try await old.upload(to: harness)
        try await old.download(from: harness)
        expectEqual(Self.items(old)[1]?["a"], .int(7))
        let new = try await Self.join(harness, 6, version: 1)
        expectTrue(
            new.previousSchemaVersion == nil && Self.items(new)[1] == ["a": .null, "b": .int(0), "note": .string("")])
    }

    /// The version of a copy is on record from the first, however soon the client comes with another one.
    @Test func aCopyKeepsItsVersionOverSetZero() async throws {
        let (harness, _) = try await Self.begun()
        var client = try await Self.join(harness, 2, version: 0, subscribes: false)
        client.schemaVersion = 1
        try await client.connect(to: harness, session: 3, user: "u2")
        expectEqual(client.previousSchemaVersion, 0)
    }

    @Test func declarationsOutsideTheClientsSchemaVersionAreRefused() async throws {
        let (harness, _) = try await Self.begun()
        for declared in [Self.declare("Item", [("gone", .string, true)]), Self.declare("Old", [])] {
            var new = try await Self.join(harness, UInt64(10 + declared.count), version: 1)
            try new.make(declared, at: 20)
            let refusal = try await new.refusal(from: harness)
            expectTrue(
                refusal?.code == .invalidSchemaChange && refusal?.message.contains("not in schema version 1") == true)
        }
    }

    @Test func aSubscriptionIsAboutTheVersionsSchema() async throws {
        let (harness, client) = try await Self.begun()
        var old = client
        try old.write(at: 10, Self.write(1, creates: true, [("a", .int(7)), ("gone", .string("x"))]))
        try await old.upload(to: harness)
        var new = try await Self.join(harness, 2, version: 1)
        try await expectTrue(new.bootstrap(2, #"{"Item": "gone == \"x\""}"#, from: harness) != nil)
        try await expectTrue(new.bootstrap(3, #"{"Item": "note == \"\""}"#, from: harness) == nil)
        expectEqual(Set(Self.items(new).keys), [1])
        try await expectTrue(old.bootstrap(2, #"{"Item": "gone == \"x\""}"#, from: harness) == nil)
        expectEqual(Set(Self.items(old).keys), [1])
    }

    /// Clients of both versions at random, by notices and by pages, one of them from before version 1.
    @Test(arguments: 0..<40) func copiesAgreeWhateverHappens(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (harness, first) = try await Self.begun(publishes: seed.isMultiple(of: 2))
        var gateway = ViewingGateway()
        gateway.schemas = Self.versions
        var clients = [
            first, try await Self.join(harness, 2, version: 1), try await Self.join(harness, 3, version: 1),
            try await Self.join(harness, 4, version: 0),
        ]
        for index in clients.indices where clients[index].schemaVersion == 1 {
            try clients[index].make(Self.newItem, at: 3)
        }
        for client in clients { gateway.begin(client.session) }
        var time: UInt64 = 100
        for _ in 0..<80 {
            let index = Int.random(in: clients.indices, using: &random)
            time += 1
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let key = Int64.random(in: 1...4, using: &random)
                let knows = Self.items(clients[index])[key] != nil
                if knows, Int.random(in: 0..<5, using: &random) == 0 {
                    try clients[index].write(at: SyncTimestamp(time), Self.erase(key))
                } else {
                    let values = Self.values(of: clients[index].schemaVersion == 1, &random)
                    // Two clients that make the same object have one of them undone; this is about other things.
                    let own = knows ? key : key * 10 + Int64(index)
                    let isThere = Self.items(clients[index])[own] != nil
                    try clients[index].write(at: SyncTimestamp(time), Self.write(own, creates: !isThere, values))
                }
            case 4, 5: try await clients[index].upload(to: harness)
            case 6: try gateway.take(harness.takeNotices())
            default:
                try gateway.take(harness.takeNotices())
                try gateway.drain(&clients[index])
                try await gateway.bringUp(&clients[index], from: harness, always: false)
            }
        }
        for _ in 0..<2 {
            for index in clients.indices {
                try await clients[index].upload(to: harness)
                try gateway.take(harness.takeNotices())
            }
            for index in clients.indices { try await gateway.bringUp(&clients[index], from: harness, always: true) }
        }
        for client in clients {
            let expected = try await Self.items(harness, version: Int(client.schemaVersion ?? 0))
            expectEqual(Self.items(client), expected, "seed \(seed), a client of version \(client.schemaVersion ?? 0)")
            for bytes in client.received where !bytes.isEmpty {
                try expectTrue(Changeset(parsing: bytes).strings.find("a@v1") == nil)
            }
        }
    }

    private static func values(of isNew: Bool, _ random: inout SeededGenerator) -> [(ByteString, Payload)] {
        let number = Int64.random(in: 0...9, using: &random)
        let all: [(ByteString, Payload)] =
            isNew
            ? [
                ("a", Bool.random(using: &random) ? .null : .string(ByteString("s\(number)"))),
                ("b", Bool.random(using: &random) ? .null : .int(number)), ("note", .string(ByteString("n\(number)"))),
            ]
            : [
                ("a", .int(number)), ("b", .int(number)),
                ("note", Bool.random(using: &random) ? .null : .string(ByteString("o\(number)"))),
                ("gone", .string(ByteString("g\(number)"))),
            ]
        return all.filter { _ in Bool.random(using: &random) }
    }
}
