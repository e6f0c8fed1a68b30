import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// Objects of asymmetric classes go up, are kept, and go down to nobody.
@Suite struct AsymmetricClassTests {
    private typealias Items = FlexibleItems

    private static func declare(_ name: ByteString, asymmetric: Bool) -> (inout Changeset) -> Void {
        { changeset in
            let table = changeset.strings.intern(name)
            changeset.instructions.append(
                .addTable(
                    .init(
                        table: table,
                        kind: .topLevel(
                            keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false,
                            asymmetric: asymmetric))))
            for field in ["owner", "a"] {
                changeset.instructions.append(
                    .addColumn(
                        .init(
                            table: table, field: changeset.strings.intern(ByteString(field)), type: .int,
                            nullable: false, collection: .single)))
            }
        }
    }

    private static func link(
        _ from: ByteString, _ field: ByteString = "link", to target: ByteString, _ collection: CollectionType = .single
    ) -> (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: changeset.strings.intern(from), field: changeset.strings.intern(field), type: .link,
                        nullable: collection != .list, collection: collection,
                        linkTarget: changeset.strings.intern(target),
                        keyType: collection == .dictionary ? .string : nil)))
        }
    }

    private static func set(_ key: Int64, _ field: ByteString, _ value: Int64) -> (inout Changeset) -> Void {
        { changeset in
            let path = FieldPath(
                table: changeset.strings.intern("Event"), object: .int(key), field: changeset.strings.intern(field))
            changeset.instructions.append(
                .update(.init(target: path, value: .int(value), qualifier: .isDefault(false))))
        }
    }

    private static func event(_ key: Int64, owner: Int64 = 0, a: Int64 = 1) -> (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(
                .createObject(table: changeset.strings.intern("Event"), object: .int(key)))
            set(key, "owner", owner)(&changeset)
            set(key, "a", a)(&changeset)
        }
    }

    private static func erase(_ key: Int64) -> (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(.eraseObject(table: changeset.strings.intern("Event"), object: .int(key)))
        }
    }

    private static func all(_ changes: ((inout Changeset) -> Void)...) -> (inout Changeset) -> Void {
        { changeset in for change in changes { change(&changeset) } }
    }

    private func join(
        _ harness: OwnerHarness, _ session: UInt64, writes: Set<Int64> = [0, 1, 2]
    ) async throws -> ViewingClient {
        var client = try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: writes))
        if session == 1 {
            try client.make(Items.schema(), at: 1)
            try client.write(at: 2, Self.declare("Event", asymmetric: true))
            try await client.upload(to: harness)
        }
        try await client.download(from: harness)
        try await expectTrue(client.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        return client
    }

    private func begun() async throws -> (OwnerHarness, ViewingClient) {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        return (harness, try await join(harness, 1))
    }

    /// The keys of the events that the store has, with `a`.
    private func events(_ harness: OwnerHarness) async throws -> [Int64: Int64] {
        let record = try await harness.record()
        let table = try #require(try Schema(decoding: record.schema).table("Event"))
        let column = try #require(table.column("a"))
        var events: [Int64: Int64] = [:]
        for (row, body) in try await harness.store.objects(in: record.id, after: nil, maxBytes: .max)
        where row.table == table.id.rawValue {
            guard case .int(let key) = row.key, case .int(let a) = try StoredObject(decoding: body)[column] else {
                continue
            }
            events[key] = a
        }
        return events
    }

    /// Whether anything that a client was sent speaks of an event.
    private func hasHeard(_ client: ViewingClient) throws -> Bool {
        try client.received.contains { bytes in
            let changeset = try bytes.isEmpty ? Changeset() : Changeset(parsing: bytes)
            return changeset.instructions.contains {
                $0.target.object != nil && changeset.strings[$0.target.table] == "Event"
            }
        }
    }

    @Test func objectsOfAsymmetricClassesAreKeptAndSentToNobody() async throws {
        let (harness, first) = try await begun()
        var author = first
        var gateway = ViewingGateway()
        var reader = try await join(harness, 2)
        gateway.begin(2)
        try await gateway.bringUp(&reader, from: harness, always: true)
        gateway.follow(reader)
        _ = harness.takeNotices()
        try author.write(at: 10, Self.all(Self.event(1), Items.create(7, .init(owner: 0, a: 1))))
        try author.write(at: 11, Self.event(2))
        try await author.upload(to: harness)
        // By the notice, by a page, and in a set's data.
        try gateway.take(harness.takeNotices())
        try gateway.drain(&reader)
        expectEqual(Items.items(reader.state), [7: .init(owner: 0, a: 1)])
        try await reader.download(from: harness)
        try await author.download(from: harness)
        var late = try await join(harness, 3)
        try await late.download(from: harness)
        expectEqual(Items.items(late.state), [7: .init(owner: 0, a: 1)])
        for client in [author, reader, late] {
            try expectTrue(!hasHeard(client))
            expectTrue(client.told.isEmpty)
        }
        try await expectEqual(events(harness), [1: 1, 2: 1])
        expectEqual(late.state.schema.table("Event")?.kind, .asymmetric)
        // An operator may take them away, which is nobody's affair either.
        var erasure = Changeset()
        Self.erase(1)(&erasure)
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [.init(clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: erasure.encoded())]))
        try await expectEqual(events(harness), [2: 1])
        try await late.download(from: harness)
        try await author.download(from: harness)
        try expectTrue(!hasHeard(late) && !hasHeard(author))
    }

    @Test func theRolesWriteSideDecidesAndItsAuthorIsToldBehindTheAcknowledgement() async throws {
        let (harness, _) = try await begun()
        var author = try await join(harness, 2, writes: [0])
        try author.write(
            at: 10, Self.all(Self.event(1), Self.event(2, owner: 1), Items.create(7, .init(owner: 0, a: 1))))
        try await author.upload(to: harness)
        try await author.download(from: harness)
        try await expectEqual(events(harness), [1: 1])
        try await expectEqual(Items.items(harness), [7: .init(owner: 0, a: 1)])
        let notice = try #require(author.told.first)
        expectTrue(author.told.count == 1 && notice.isIngest == true)
        expectEqual(notice.updates.map(\.reason), [#"write to 2 in table "Event" not allowed"#])
        expectTrue(author.cursor >= notice.version)
        try expectTrue(!hasHeard(author))
        // Only once.
        try await author.download(from: harness)
        expectEqual(author.told.count, 1)
    }

    @Test func objectsAreMadeOnceAndNotChanged() async throws {
        let (harness, first) = try await begun()
        var author = first
        try author.write(at: 10, Self.event(1))
        try author.write(at: 11, Self.set(1, "a", 5))
        try author.write(at: 12, Self.erase(1))
        try await author.upload(to: harness)
        var other = try await join(harness, 2)
        // Another object of the same key, and the same one again, as after a client reset: both are left out without a word.
        try other.write(at: 13, Self.event(1, a: 9))
        try other.write(at: 14, Self.event(1))
        try await other.upload(to: harness)
        try await author.download(from: harness)
        try await other.download(from: harness)
        try await expectEqual(events(harness), [1: 1])
        expectEqual(author.told.map { $0.updates.count }, [1, 1])
        expectTrue(other.told.isEmpty)
        try expectTrue(!hasHeard(author) && !hasHeard(other))
    }

    /// A client that guesses what somebody else has sent hears the same whether or not the guess is right.
    @Test func nobodyIsToldWhetherAGuessIsRight() async throws {
        let (harness, first) = try await begun()
        var author = first
        try author.write(at: 10, Self.event(1, owner: 1, a: 42))
        try author.write(at: 10, Self.event(2, owner: 0, a: 42))
        try await author.upload(to: harness)
        var stranger = try await join(harness, 2, writes: [0])
        func make(_ key: Int64) -> (inout Changeset) -> Void {
            { $0.instructions.append(.createObject(table: $0.strings.intern("Event"), object: .int(key))) }
        }
        // The stranger may not make this object, be it with the right values or with wrong ones.
        try stranger.write(at: 11, Self.event(1, owner: 1, a: 42))
        try stranger.write(at: 12, Self.event(1, owner: 1, a: 41))
        // The stranger may make objects under these keys: nothing is told, whether or not there is one.
        try stranger.write(at: 13, make(1))
        try stranger.write(at: 14, Self.all(make(2), Self.set(2, "a", 42)))
        try stranger.write(at: 15, make(2))
        // Nothing else comes with an object: what it was for a moment would be kept.
        try stranger.write(at: 16, Self.all(Self.event(3), Self.erase(3), Self.event(3)))
        try await stranger.upload(to: harness)
        try await stranger.download(from: harness)
        expectEqual(
            stranger.told.flatMap(\.updates).map(\.key),
            [1, 1, 3].map { ObjectKey.int($0).detachedEncoding() })
        try await expectEqual(events(harness), [1: 42, 2: 42])
    }

    @Test func theClassMayComeWithItsFirstObjects() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var author = try await ViewingClient.join(
            harness, session: 1, user: "u1", roles: try Items.roles(reads: [0], writes: [0]))
        try author.write(
            at: 10, Self.all(Self.declare("Event", asymmetric: true), Self.event(1), Self.event(2, owner: 1)))
        try await author.upload(to: harness)
        try await author.download(from: harness)
        try await expectEqual(events(harness), [1: 1])
        expectEqual(author.told.flatMap(\.updates).map(\.key), [ObjectKey.int(2).detachedEncoding()])
    }

    @Test func nobodySubscribesToThem() async throws {
        let (harness, first) = try await begun()
        var author = first
        let refusal = try await author.bootstrap(2, #"{"Event": "TRUEPREDICATE"}"#, from: harness)
        expectEqual(refusal?.contains("asymmetric"), true)
    }

    @Test func nothingLinksToThem() async throws {
        let (harness, author) = try await begun()
        func refusal(_ changes: (inout Changeset) -> Void) async throws -> RefusedAnswer? {
            var changeset = Changeset()
            changes(&changeset)
            var client = author
            try client.make(changeset.encoded(), at: 19)
            return try await client.refusal(from: harness)
        }
        for collection in [CollectionType.single, .list, .dictionary] {
            let refused = try await refusal(Self.link("Item", to: "Event", collection))
            expectEqual(refused?.code, 225)
            expectEqual(refused?.message.contains("asymmetric"), true)
        }
        // Nor does a value that can be of any type.
        var changeset = Changeset()
        let (item, any) = (changeset.strings.intern("Item"), changeset.strings.intern("any"))
        changeset.instructions = [
            .addColumn(.init(table: item, field: any, type: .null, nullable: true, collection: .single))
        ]
        var client = author
        try client.make(changeset.encoded(), at: 20)
        try await client.upload(to: harness)
        try client.write(at: 21, Items.create(1, .init(owner: 0, a: 1)))
        try await client.upload(to: harness)
        var state = client.state
        let linking = Self.all { changeset in
            let (item, event) = (changeset.strings.intern("Item"), changeset.strings.intern("Event"))
            changeset.instructions.append(
                .update(
                    .init(
                        target: FieldPath(table: item, object: .int(1), field: changeset.strings.intern("any")),
                        value: .link(table: event, key: .int(1)), qualifier: .isDefault(false))))
        }
        var bad = Changeset()
        linking(&bad)
        #expect(throws: RealmStateError.self) { try state.apply(bad) }
    }

    @Test func theyLinkToObjectsOfOtherClasses() async throws {
        let (harness, first) = try await begun()
        var author = first
        try author.write(
            at: 9,
            Self.all(
                Self.link("Event", to: "Item"), Self.link("Event", "list", to: "Item", .list),
                Self.link("Event", "map", to: "Item", .dictionary)))
        // The item with key 7 is there, and nobody has made the one with key 8.
        try author.write(at: 10, Items.create(7, .init(owner: 0, a: 1)))
        try author.write(
            at: 11,
            Self.all(
                Self.event(1),
                {
                    let event = $0.strings.intern("Event")
                    func path(_ field: ByteString, _ path: PathElements, _ strings: inout InternTable) -> FieldPath {
                        FieldPath(table: event, object: .int(1), field: strings.intern(field), path: path)
                    }
                    func link(_ key: Int64, _ strings: inout InternTable) -> Payload {
                        .link(table: strings.intern("Item"), key: .int(key))
                    }
                    let entry = $0.strings.intern("k")
                    let links: [Instruction] = [
                        .update(
                            .init(
                                target: path("link", [], &$0.strings), value: link(7, &$0.strings),
                                qualifier: .isDefault(false))),
                        .arrayInsert(path("list", [.index(0)], &$0.strings), value: link(8, &$0.strings), priorSize: 0),
                        .update(
                            .init(
                                target: path("map", [.key(entry)], &$0.strings), value: link(7, &$0.strings),
                                qualifier: .isDefault(false))),
                    ]
                    $0.instructions += links
                }))
        try await author.upload(to: harness)
        try await author.download(from: harness)
        expectTrue(author.told.isEmpty)
        try await expectEqual(events(harness), [1: 1])
        let record = try await harness.record()
        let table = try #require(try Schema(decoding: record.schema).table("Event"))
        let row = ObjectRow(table: table.id.rawValue, key: .int(1))
        let body = try #require(try await harness.store.objects(in: record.id, at: [row])[row])
        let object = try StoredObject(decoding: body)
        let item = ObjectAddress("Item", .int(7))
        expectEqual(object[try #require(table.column("link"))], .link(item))
        expectEqual(object[try #require(table.column("list"))], .list([.link(ObjectAddress("Item", .int(8)))]))
        expectEqual(object[try #require(table.column("map"))], .dictionary(["k": .link(item)]))
        // What they link to goes as it ever did.
        try author.write(at: 12, Items.erase(7))
        try await author.upload(to: harness)
        try await author.download(from: harness)
        try await expectTrue(Items.items(harness).isEmpty)
        try expectTrue(!hasHeard(author))
    }

    @Test func partitionSyncHasNone() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        var changeset = Changeset()
        Self.declare("Event", asymmetric: true)(&changeset)
        let published = try await harness.send(harness.upload(file, [changeset.encoded()]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 225 && refusal.message.contains("asymmetric"))
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
        // An operator's message neither.
        let dead = try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [.init(clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: changeset.encoded())])
        ).dead
        expectEqual(dead.count, 1)
    }
}
