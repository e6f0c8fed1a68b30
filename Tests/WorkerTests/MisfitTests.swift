import AMQP
import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What stock clients cannot apply comes into no realm, and out of those that have it from a release before.
@Suite(.hangGuard) struct MisfitTests {
    private typealias Items = FlexibleItems

    private static func bytes(_ changes: ((inout Changeset) -> Void)...) -> [UInt8] {
        var changeset = Changeset()
        for change in changes { change(&changeset) }
        return changeset.encoded()
    }

    private static func column(
        _ table: ByteString, _ field: ByteString, _ type: PayloadType, _ collection: CollectionType,
        target: ByteString? = nil
    ) -> (inout Changeset) -> Void {
        { changeset in
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: changeset.strings.intern(table), field: changeset.strings.intern(field), type: type,
                        nullable: true, collection: collection,
                        linkTarget: target.map { changeset.strings.intern($0) },
                        keyType: collection == .dictionary ? .string : nil)))
        }
    }

    private static func entry(
        _ table: ByteString, _ key: Int64, _ entry: ByteString, _ value: Payload = .string("v")
    ) -> (inout Changeset) -> Void {
        { changeset in
            let path = FieldPath(
                table: changeset.strings.intern(table), object: .int(key), field: changeset.strings.intern("map"),
                path: [.key(changeset.strings.intern(entry))])
            changeset.instructions.append(.update(.init(target: path, value: value, qualifier: .isDefault(false))))
        }
    }

    /// Two tasks with a map each.
    private static let tasks = [
        Changes.schema(), bytes(column("Task", "map", .string, .dictionary)), Changes.create(1), Changes.create(2),
    ]

    private func maps(_ harness: OwnerHarness) async throws -> [Int64: [String]] {
        let record = try await harness.record()
        let table = try #require(try Schema(decoding: record.schema).table("Task"))
        let column = try #require(table.column("map"))
        var maps: [Int64: [String]] = [:]
        for (row, body) in try await harness.store.objects(in: record.id, after: nil, maxBytes: .max) {
            guard case .int(let key) = row.key, case .dictionary(let entries) = try StoredObject(decoding: body)[column]
            else { continue }
            maps[key] = entries.keys.map(\.string).sorted()
        }
        return maps
    }

    @Test(arguments: ["a.b", "$a"]) func anUploadWithOneIsRefusedWithItsReason(_ key: String) async throws {
        let harness = try await OwnerHarness.make()
        let (author, other) = (try await harness.join(session: 1), try await harness.join(session: 2))
        try await harness.send(harness.upload(author, Self.tasks))
        let published = try await harness.send(
            harness.upload(
                author, follows: 4, base: 4,
                [Changes.set(1, title: "new"), Self.bytes(Self.entry("Task", 1, ByteString(key)))]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 212 && refusal.message.contains("Dictionary::insert: key must not"))
        expectTrue(refusal.message.contains(key) && refusal.message.contains("Task.map"))
        expectEqual(published.dead.count, 1)
        // The realm goes on, and erasing such an entry is refused as well.
        try await harness.send(
            harness.upload(other, session: 2, base: 4, [Self.bytes(Self.entry("Task", 2, "a$b"))]))
        try await expectEqual(maps(harness), [1: [], 2: ["a$b"]])
        try await expectEqual(harness.titles(), [1: "", 2: ""])
        let erasing = Self.bytes(Self.entry("Task", 2, ByteString(key), .erased))
        let refused = try await harness.send(harness.upload(other, session: 2, follows: 1, base: 5, [erasing]))
        try expectEqual(refused.one(RefusedAnswer.self).code, 212)
    }

    @Test func anEventWithOneIsADeadLetterWithItsReason() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, Self.tasks))
        let changesets = [Changes.set(1, title: "new"), Self.bytes(Self.entry("Task", 1, "a.b"))]
        let published = try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: changesets.map {
                    .init(clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: $0)
                }))
        let dead = try #require(published.dead.first)
        expectEqual(dead.properties.headers["x-sluice-reason"]?.stringValue?.contains("must not contain '.'"), true)
        try await expectEqual(harness.record().latest.version, 4)
        try await expectEqual(harness.titles(), [1: "", 2: ""])
    }

    @Test func aFlexibleClientsWriteIsUndoneAndTheRestCounts() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var author = try await ViewingClient.join(
            harness, session: 1, user: "u1", roles: try Items.roles(reads: [0], writes: [0]))
        try author.make(Items.schema(), at: 1)
        try author.make(Self.bytes(Self.column("Item", "map", .string, .dictionary)), at: 2)
        try await author.upload(to: harness)
        try await author.download(from: harness)
        try await expectTrue(author.bootstrap(1, Items.query([0]), from: harness) == nil)
        try author.make(
            Self.bytes(
                Items.create(1, owner: 0, a: 1), Items.create(2, owner: 0, a: 2), Self.entry("Item", 2, "a.b"),
                Items.create(3, owner: 0, a: 3), Self.entry("Item", 3, "fine")), at: 3)
        try await author.upload(to: harness)
        try await author.download(from: harness)
        let expected: [Int64: Items.Item] = [1: .init(owner: 0, a: 1), 3: .init(owner: 0, a: 3)]
        try await expectEqual(Items.items(harness), expected)
        expectEqual(Items.items(author.state), expected)
        expectEqual(author.told.flatMap(\.updates).map(\.reason), [#"write to 2 in table "Item" not allowed"#])
    }

    /// The reference refuses such a property with an exception that nobody catches.
    @Test func aLinkToAnyClassIsRefused() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, Self.tasks))
        let changeset = Self.bytes(Self.column("Task", "any", .link, .list, target: ""))
        let published = try await harness.send(harness.upload(file, follows: 4, base: 4, [changeset]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 225 && refusal.message.contains("objects of any class"))
    }

    // MARK: Mending

    /// The tasks as a release before took them: 1 has the entry `a.b` beside `ok`, 2 has none such.
    private func spoilt() async throws -> (OwnerHarness, ClientFileIdent) {
        let before = try await OwnerHarness.make()
        let file = try await before.join(session: 1)
        let writes = [
            Self.bytes(Self.entry("Task", 1, "a_b"), Self.entry("Task", 1, "ok")),
            Self.bytes(Self.entry("Task", 2, "fine")),
        ]
        try await before.send(before.upload(file, Self.tasks + writes))
        let record = try await before.record()
        let key = HistoryKey(realm: record.id, generation: record.generation)
        var batch = SliceBatch()
        batch.historyTrims = [key: record.latest.version]
        batch.history[key] = try await before.store.history(
            of: key, after: 0, through: record.latest.version, maxBytes: .max
        ).map {
            var record = $0
            record.entry.changeset = Self.spoiling(record.entry.changeset)
            return record
        }
        for (row, body) in try await before.store.objects(in: record.id, after: nil, maxBytes: .max) {
            batch.objects[record.id, default: [:]][row] = Self.spoiling(body)
        }
        try await before.store.commit(batch, epoch: before.owner.epoch)
        return (try await OwnerHarness.make(on: before.store, control: before.control), file)
    }

    private static func spoiling(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.dropLast(2) where bytes[index..<index + 3].elementsEqual("a_b".utf8) {
            bytes[index + 1] = UInt8(ascii: ".")
        }
        return bytes
    }

    @Test func aMendedRealmIsSentToNobodyAsItWas() async throws {
        let (harness, file) = try await spoilt()
        try await expectEqual(maps(harness), [1: ["a.b", "ok"], 2: ["fine"]])
        let message = ResetMessage(
            realm: harness.realm, clientFile: nil, campaign: "m-1", reason: "mended", mends: true)
        let published = try await harness.send(message)
        expectTrue(published.dead.isEmpty)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [file.ident])
        try await expectEqual(maps(harness), [1: ["ok"], 2: ["fine"]])

        // A client that has to reset begins with the base, and so does every new one.
        let fresh = try await harness.join(session: 2)
        let record = try await harness.record()
        let bases = try await harness.store.bases(of: record.id)
        expectEqual(bases.map(\.isComplete), [true])
        var state = RealmState()
        var after = DownloadCursor()
        while after.serverVersion < record.latest.version {
            let page = try await harness.page(fresh, session: 2, after: after).one(PageAnswer.self)
            for entry in page.entries where !entry.changeset.isEmpty {
                let changeset = try Changeset(parsing: entry.changeset)
                try state.apply(changeset)
                expectTrue(changeset.misfits(in: state.schema).isEmpty)
            }
            try #require(page.download.serverVersion > after.serverVersion)
            after = page.download
        }
        let task = ObjectAddress("Task", .int(1))
        expectEqual(state.value(at: FieldAddress(task, "map")), .dictionary(["ok": .string("v")]))

        // Once for a campaign.
        let latest = record.latest.version
        try await harness.send(message)
        try await expectEqual(harness.record().latest.version, latest)
        try await expectEqual(harness.store.bases(of: record.id).count, 1)
    }
}
