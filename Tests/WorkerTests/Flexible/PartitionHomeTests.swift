import Changesets
import Messages
import RealmState
import Rules
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What clients that came from partition sync make is of their partition, and is judged as if they had said so.
@Suite struct PartitionHomeTests {
    private typealias Items = FlexibleItems
    private static let app = AppRecord(
        id: OwnerHarness.app, syncMode: .flexible,
        migration: ModeMigration(
            id: "m", target: .flexible, field: "owner", makesRoles: true, phase: .done, startedAt: 1), createdAt: 1)

    private func settled(
        _ changes: ((inout Changeset) -> Void)..., there: Set<Int64> = [1]
    ) throws -> (texts: [String], settled: Set<Int64>) {
        var state = RealmState()
        try state.apply(Changeset(parsing: Items.schema()))
        let home = try #require(PartitionHome(#"{"$numberLong":"7"}"#, of: Self.app, in: state.schema))
        var changeset = Changeset()
        for change in changes { change(&changeset) }
        let (result, settled) = home.settling(changeset) { address in
            if case .int(let key) = address.key { there.contains(key) } else { false }
        }
        let told = home.told(of: result, settled)
        expectEqual(told.instructions.count, settled.count)
        let texts = result.instructions.map { instruction in
            switch instruction {
            case .createObject(_, .int(let key)): "make \(key)"
            case .eraseObject(_, .int(let key)): "erase \(key)"
            case .update(let update):
                "\(result.strings[update.target.field]?.string ?? "?") \(update.value == .int(7) ? "home" : "said")"
            default: "?"
            }
        }
        return (
            texts, Set(settled.compactMap { if case .int(let key) = $0.key { key } else { nil } })
        )
    }

    private func bare(_ key: Int64) -> (inout Changeset) -> Void {
        { $0.instructions.append(.createObject(table: $0.strings.intern("Item"), object: .int(key))) }
    }

    @Test func newObjectsWithoutAPartitionGetTheClientsOwn() throws {
        var (texts, keys) = try settled(bare(2), Items.set(2, "a", 1))
        expectTrue(texts == ["make 2", "owner home", "a said"] && keys == [2])
        (texts, keys) = try settled(Items.set(1, "a", 1))
        expectTrue(texts == ["a said"] && keys.isEmpty)
        (texts, keys) = try settled(Items.erase(1), bare(1))
        expectTrue(texts == ["erase 1", "make 1", "owner home"] && keys == [1])
    }

    @Test func aPartitionThatTheClientNamesStays() throws {
        let (texts, keys) = try settled(bare(2), Items.set(2, "owner", 3), bare(4))
        expectTrue(texts == ["make 2", "owner said", "make 4", "owner home"] && keys == [4])
    }

    @Test func anObjectThatIsThereStaysWhereItIs() throws {
        let (texts, keys) = try settled(bare(1), bare(2), bare(2), there: [1])
        expectTrue(texts == ["make 1", "make 2", "owner home", "make 2"] && keys == [2])
    }

    /// The server tells the author of the partition behind its changeset, which is judged before.
    @Test func nothingIsSetBehindTheRoles() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.migration = Self.app.migration }
        let roles = try Items.roles(reads: [0, 1, 2], writes: [0])
        var client = try await ViewingClient.join(
            harness, session: 1, user: "u", roles: roles, home: #"{"$numberLong":"1"}"#)
        try client.make(Items.schema(), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectTrue(client.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        let file = try #require(
            try await harness.store.clientFile(ClientFileKey(realm: harness.record().id, ident: client.file.ident)))
        try expectEqual(ClientViews(decoding: file.views).partition, #"{"$numberLong":"1"}"#)
        // The object is of owner 0, as its author says; and one of which nothing is said would be of owner 1, who is not the author's to write for.
        try client.write(at: 2, Items.create(5, .init(owner: 0, a: 1)))
        try client.write(at: 3) { changeset in
            bare(6)(&changeset)
            Items.set(6, "a", 2)(&changeset)
        }
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectEqual(Items.items(harness), [5: .init(owner: 0, a: 1)])
        expectEqual(Items.items(client.state), [5: .init(owner: 0, a: 1)])
        expectEqual(client.told.flatMap(\.updates).map(\.key), [ObjectKey.int(6).detachedEncoding()])
        // Making it again moves nothing.
        try client.write(at: 4, bare(5))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectEqual(Items.items(harness), [5: .init(owner: 0, a: 1)])
        // A session that says nothing has no partition, whatever an earlier one said.
        try await client.connect(to: harness, session: 2, user: "u")
        try client.write(at: 5) { changeset in
            bare(7)(&changeset)
            Items.set(7, "a", 3)(&changeset)
        }
        try await client.upload(to: harness)
        try await expectEqual(Items.items(harness)[7], .init(owner: 0, a: 3))
    }
}
