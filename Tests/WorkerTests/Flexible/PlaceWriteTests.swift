import Changesets
import Messages
import RealmState
import Rules
import Storage
import StorageSupport
import SyncModel
import Synchronization
import TestSupport
import Testing
import Views

@testable import Worker

/// Shops with a place and a mixed value, at their owner.
@Suite(.hangGuard) struct PlaceWriteTests {
    private static let roles = #""defaultRoles": "readAndWriteAll""#

    private static func schema() -> [UInt8] {
        var changeset = Changeset()
        func name(_ text: ByteString) -> InternedString { changeset.strings.intern(text) }
        let (point, shop) = (name("Point"), name("Shop"))
        let key = name("_id")
        changeset.instructions = [
            .addTable(.init(table: point, kind: .embedded)),
            .addTable(
                .init(
                    table: shop,
                    kind: .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false))),
            .addColumn(
                .init(table: point, field: name("type"), type: .string, nullable: false, collection: .single)),
            .addColumn(
                .init(table: point, field: name("coordinates"), type: .double, nullable: false, collection: .list)),
            .addColumn(.init(table: shop, field: name("value"), type: .null, nullable: true, collection: .single)),
            .addColumn(
                .init(
                    table: shop, field: name("location"), type: .link, nullable: true, collection: .single,
                    linkTarget: point)),
        ]
        return changeset.encoded()
    }

    private static func create(_ key: Int64, value: Double? = nil, at coordinates: [Double] = []) -> (inout Changeset)
        -> Void
    {
        { changeset in
            let shop = ObjectAddress("Shop", .int(key))
            changeset.instructions.append(
                .createObject(table: changeset.strings.intern("Shop"), object: .int(key)))
            func update(_ address: FieldAddress, _ payload: Payload) {
                changeset.instructions.append(
                    .update(
                        .init(
                            target: FieldPath(address, &changeset.strings), value: payload, qualifier: .isDefault(false)
                        )))
            }
            if let value { update(FieldAddress(shop, "value"), .double(bits: value.bitPattern)) }
            guard !coordinates.isEmpty else { return }
            let location = FieldAddress(shop, "location")
            update(location, .objectValue)
            update(location.appending(.key("type")), .string("Point"))
            let list = location.appending(.key("coordinates"))
            for (index, coordinate) in coordinates.enumerated() {
                changeset.instructions.append(
                    .arrayInsert(
                        FieldPath(list.appending(.index(index)), &changeset.strings),
                        value: .double(bits: coordinate.bitPattern), priorSize: UInt32(index)))
            }
        }
    }

    /// A client of an app whose shops can be found by their places and values.
    private func client() async throws -> (harness: OwnerHarness, client: ViewingClient) {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        let rules = #"{\#(Self.roles), "queryable": {"global": ["location", "value"]}}"#
        let version = try await harness.control.setRules(rules, of: OwnerHarness.app)
        harness.rulesVersion.withLock { $0 = version }
        let roles = try #require(RulesCheck(Array(rules.utf8)).document).closedRoles(of: RuleUser(id: "u")).text
        var client = try await ViewingClient.join(harness, session: 1, user: "u1", roles: roles)
        try client.make(Self.schema(), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        return (harness, client)
    }

    /// What a geospatial query could not read does not enter the realm: it is undone at its author, with the reason.
    @Test func placesThatAreNoneAreUndone() async throws {
        var (harness, client) = try await client()
        try await expectTrue(client.bootstrap(1, #"{"Shop": "TRUEPREDICATE"}"#, from: harness) == nil)
        try client.write(at: 10) { changeset in
            Self.create(1, at: [-74.006, 40.7128])(&changeset)
            Self.create(2, at: [-180.1, -90.1])(&changeset)
            Self.create(3)(&changeset)
            Self.create(4, at: [2_129, 89])(&changeset)
        }
        try await client.upload(to: harness)
        try await client.download(from: harness)
        expectEqual(
            client.told.flatMap(\.updates).map(\.reason),
            [
                "write to 2 in table \"Shop\" will corrupt geojson data",
                "write to 4 in table \"Shop\" will corrupt geojson data",
            ])
        expectEqual(Set(client.state.objects(of: "Shop").map(\.key)), [.int(1), .int(3)])
    }

    /// Two queries that clients write alike, since they keep six digits beside a mixed value.
    @Test func aQueryThatDiffersInItsSeventhDigitIsAnotherOne() async throws {
        var (harness, client) = try await client()
        try await expectTrue(client.bootstrap(1, #"{"Shop": "TRUEPREDICATE"}"#, from: harness) == nil)
        try client.write(at: 10) { changeset in
            Self.create(1, value: 1.0000001)(&changeset)
            Self.create(2, value: 1.0000002)(&changeset)
        }
        try await client.upload(to: harness)
        try await client.download(from: harness)
        for (version, text, key) in [(2, "1.0000001", 1), (3, "1.0000002", 2)] as [(UInt64, String, Int64)] {
            try await expectTrue(client.bootstrap(version, #"{"Shop": "value == \#(text)"}"#, from: harness) == nil)
            expectEqual(client.state.objects(of: "Shop").map(\.key), [.int(key)])
        }
    }
}
