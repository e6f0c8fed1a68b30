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

/// What is kept for views is small, and counted: bytes and rows of what one user of a flexible app can ask for.
@Suite(.hangGuard) struct ViewRoomTests {
    private typealias Items = FlexibleItems

    private func client(
        _ harness: OwnerHarness, _ session: UInt64, roles: String? = nil
    ) async throws -> ViewingClient {
        try await ViewingClient.join(
            harness, session: session, user: "u\(session)", roles: try roles ?? Items.openRoles())
    }

    /// Items with a text, and as many numbers as wanted.
    private func schema(numbers: Int) -> [UInt8] {
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false,
                        asymmetric: false))))
        for name in ["owner", "a"] + (0..<numbers).map({ "x\($0)" }) {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(ByteString(name)), type: .int, nullable: false,
                        collection: .single)))
        }
        for (name, collection) in [("text", CollectionType.single), ("members", .set)] {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(ByteString(name)), type: .string,
                        nullable: collection == .single, collection: collection)))
        }
        return changeset.encoded()
    }

    private func scene(
        numbers: Int = 0, limits: WorkerLimits = WorkerLimits(), roles: String? = nil
    ) async throws -> (harness: OwnerHarness, client: ViewingClient) {
        let harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        var client = try await client(harness, 1, roles: roles)
        try client.make(schema(numbers: numbers), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        return (harness, client)
    }

    private static func item(_ query: String) -> String { #"{"Item": "\#(query)"}"# }

    private func row(_ client: ViewingClient, _ harness: OwnerHarness) async throws -> ClientFileRecord {
        let realm = try await harness.record().id
        return try #require(
            try await harness.store.clientFile(ClientFileKey(realm: realm, ident: client.file.ident)))
    }

    // MARK: Before images

    /// Small changes of an object with a large text, by which a set asks: no version keeps the text, and what is kept counts.
    @Test func manyChangesOfAnObjectWithALargeTextKeepNextToNothing() async throws {
        var (harness, client) = try await scene()
        try await expectTrue(client.bootstrap(1, Self.item("text != 'x'"), from: harness) == nil)
        let size = 256 << 10
        try client.write(at: 10) { changeset in
            Items.create(1, owner: 0, a: 1)(&changeset)
            let path = FieldPath(
                table: changeset.strings.intern("Item"), object: .int(1), field: changeset.strings.intern("text"))
            changeset.instructions.append(
                .update(
                    .init(
                        target: path,
                        value: .string(ByteString(String(repeating: "a", count: size))),
                        qualifier: .isDefault(false))))
        }
        try await client.upload(to: harness)
        let before = try await harness.store.usage(ofApp: OwnerHarness.app).bytes
        for value in 0..<300 {
            try client.write(at: SyncTimestamp(UInt64(20 + value)), Items.set(1, "a", Int64(value)))
        }
        try await client.upload(to: harness)
        let record = try await harness.record()
        let history = try await harness.store.history(
            of: HistoryKey(realm: record.id, generation: 1), after: 0, through: record.latest.version, maxBytes: .max)
        let images = history.reduce(0) { $0 + $1.images.count }
        // The images once took 75 MiB.
        expectTrue(images < 16_000, "\(images)")
        let changesets = history.suffix(300).reduce(0) { $0 + $1.entry.changeset.count }
        let after = try await harness.store.usage(ofApp: OwnerHarness.app).bytes
        let kept = history.suffix(300).reduce(0) { $0 + $1.images.count }
        expectTrue(abs(after - before - changesets - kept) < 100, "\(after - before), \(changesets), \(kept)")
        // Somebody who comes later, and somebody who has been away.
        var other = try await self.client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.item("text != 'x'"), from: harness, maxBytes: 1 << 21) == nil)
        expectEqual(Items.items(other.state), [1: .init(owner: 0, a: 299)])
    }

    /// An object that thousands may see: of who comes and goes only that is kept, and nobody is told to erase what it never saw, nor to begin anew.
    @Test(arguments: [8 << 20, 200]) func membersOfALargeObjectComeAndGo(arrears: Int) async throws {
        var limits = WorkerLimits()
        limits.maxViewArrears = arrears
        var (harness, writer) = try await scene(limits: limits)
        try await expectTrue(writer.bootstrap(1, Self.item("a >= 0"), from: harness) == nil)
        func change(_ names: [String], comes: Bool) -> (inout Changeset) -> Void {
            { changeset in
                for name in names {
                    let path = FieldPath(
                        table: changeset.strings.intern("Item"), object: .int(1),
                        field: changeset.strings.intern("members"))
                    let value = Payload.string(ByteString(name))
                    changeset.instructions.append(
                        comes ? .setInsert(path, value: value) : .setErase(path, value: value))
                }
            }
        }
        try writer.write(at: 10) { changeset in
            Items.create(1, owner: 0, a: 1)(&changeset)
            change((0..<1_000).map { "member-\($0)-of-a-large-team" } + ["u2"], comes: true)(&changeset)
        }
        try await writer.upload(to: harness)
        var readers: [ViewingClient] = []
        for session in [2, 3] as [UInt64] {
            let text = """
                {"queryable": {"global": ["a", "members"]}, "defaultRoles": [{"name": "r", "apply_when": {}, "read": true, "write": true,
                 "document_filters": {"read": {"members": "u\(session)"}, "write": {"members": "u\(session)"}}}]}
                """
            let roles = try #require(RulesCheck(Array(text.utf8)).document).closedRoles(of: RuleUser(id: "u\(session)"))
                .text
            var reader = try await client(harness, session, roles: roles)
            try await expectTrue(reader.bootstrap(1, Self.item("a >= 0"), from: harness, maxBytes: 1 << 20) == nil)
            try await reader.upload(to: harness)
            readers.append(reader)
        }
        expectEqual(Items.items(readers[0].state), [1: .init(owner: 0, a: 1)])
        expectTrue(Items.items(readers[1].state).isEmpty)
        let before = try await harness.record().latest.version
        for step in 0..<100 as Range<UInt64> {
            try writer.write(at: SyncTimestamp(20 + step), change(["member-\(step)-of-a-large-team"], comes: false))
            if step == 50 { try writer.write(at: SyncTimestamp(20 + step), change(["u2"], comes: false)) }
            try writer.write(at: SyncTimestamp(20 + step), Items.set(1, "a", Int64(step)))
        }
        try await writer.upload(to: harness)
        let record = try await harness.record()
        let images = try await harness.store.history(
            of: HistoryKey(realm: record.id, generation: 1), after: before, through: record.latest.version,
            maxBytes: .max
        ).reduce(0) { $0 + $1.images.count }
        expectTrue(images < 40_000, "\(images)")
        for index in readers.indices {
            let sent = readers[index].received.count
            try await readers[index].download(from: harness)
            expectTrue(Items.items(readers[index].state).isEmpty)
            let names = try readers[index].received[sent...].filter { !$0.isEmpty }.flatMap {
                try Changeset(parsing: $0).touchedAddresses
            }
            expectEqual(names.isEmpty, index == 1, "\(names)")
            expectEqual(readers[index].sessionsEnded > 0, arrears == 200)
        }
    }

    // MARK: Properties

    /// Whatever one user asks for by, others may ask for by something else.
    @Test func oneUserCannotUseUpTheProperties() async throws {
        var (harness, client) = try await scene(numbers: 100)
        for start in stride(from: 0, to: 100, by: 10) {
            let query = (start..<start + 10).map { "x\($0) == 1" }.joined(separator: " or ")
            try await expectTrue(client.bootstrap(UInt64(1 + start), Self.item(query), from: harness) == nil)
        }
        var other = try await self.client(harness, 2, roles: Items.roles(reads: [0], writes: [0]))
        try await expectTrue(other.bootstrap(1, Self.item("a == 7"), from: harness) == nil)
        try other.write(at: 10, Items.create(1, owner: 0, a: 7))
        try await other.upload(to: harness)
        try other.write(at: 20, Items.set(1, "a", 8))
        try await other.upload(to: harness)
        try await other.download(from: harness)
        expectEqual(Items.items(other.state), [:])
        expectTrue(other.told.isEmpty)
    }

    @Test func imagedColumnsThatNoSetUsesAreLetGo() async throws {
        var (harness, client) = try await scene(numbers: 70)
        let table = try #require(try Schema(decoding: try await harness.record().schema).table("Item"))
        func imaged() async throws -> [String] {
            try ImagedColumns(decoding: try await harness.record().imaged).columns(of: table.id).compactMap { id in
                table.columns.first { $0.id == id }?.name.string
            }
        }
        for index in 0..<63 {
            try await expectTrue(
                client.bootstrap(UInt64(1 + index), Self.item("x\(index) == 0"), from: harness) == nil)
            try await client.upload(to: harness)
        }
        // The client's uploads have confirmed that it has the last set: the others are of no use.
        try client.write(at: 10, Items.create(1, owner: 0, a: 1))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await client.upload(to: harness)
        for _ in 0..<20 { _ = try await harness.owner.goOnWithJobs(for: .zero) }
        try await expectEqual(imaged().count, 63)
        // The 64th has the owner look which of them somebody needs.
        var other = try await self.client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.item("x69 == 1"), from: harness) == nil)
        for _ in 0..<20 { _ = try await harness.owner.goOnWithJobs(for: .zero) }
        let left = try await imaged()
        expectTrue(left.count < 40 && left.contains("x69") && left.contains("x62"), "\(left)")
        // What was let go of can be asked for again.
        try await expectTrue(client.bootstrap(100, Self.item("x0 == 0"), from: harness) == nil)
        expectEqual(Items.items(client.state), [1: .init(owner: 0, a: 1)])
    }

    /// Looking at what clients have had goes in steps that do not grow with it.
    @Test func longSetsAreLookedAtInSteps() async throws {
        var (harness, client) = try await scene(numbers: 70)
        let filler = String(repeating: "y", count: 10 << 10)
        for index in 0..<62 {
            let query = "x\(index) == 0 and text != '\(filler)'"
            try await expectTrue(client.bootstrap(UInt64(1 + index), Self.item(query), from: harness) == nil)
        }
        try await harness.finishJobs()
        // With this one there are so many properties that the owner looks which of them somebody needs.
        var other = try await self.client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.item("x69 == 1"), from: harness) == nil)
        var steps = 0
        while await harness.owner.hasJobs, steps < 1_000 {
            _ = try await harness.owner.goOnWithJobs(for: .zero)
            steps += 1
        }
        // No upload has confirmed any of them.
        let table = try #require(try Schema(decoding: try await harness.record().schema).table("Item"))
        let imaged = try ImagedColumns(decoding: try await harness.record().imaged).columns(of: table.id)
        expectTrue((9...20).contains(steps) && imaged.count == 64, "\(steps) \(imaged.count)")
    }

    // MARK: Sets

    @Test func theRolesOfAClientFileAreKeptOnce() async throws {
        let names = (0..<4_000).map { "\"owner-\($0)\"" }.joined(separator: ", ")
        let roles = try Items.openRoles().replacing("\"read\":true", with: "\"read\":{\"text\":{\"$in\":[\(names)]}}")
        var (harness, client) = try await scene()
        client.roles = roles
        try await client.connect(to: harness, session: 50, user: "u1")
        var largest = 0
        for version in 1...40 as ClosedRange<UInt64> {
            let refusal = try await client.bootstrap(version, Self.item("a == \(version)"), from: harness)
            expectTrue(refusal == nil, "\(refusal ?? "")")
            largest = max(largest, try await row(client, harness).views.count)
        }
        expectTrue(largest < 2 * roles.utf8.count + 10_000, "\(largest) of \(roles.utf8.count)")
    }

    /// Sets count among what an app has and a user adds; what goes beyond is refused as a set, and changes nothing.
    @Test(arguments: [Quota.bytes, .userBytes])
    func aSetBeyondTheQuotaIsRefusedAndChangesNothing(quota: Quota) async throws {
        var limits = WorkerLimits()
        limits.quotas = QuotaValues([quota: 300_000])
        var (harness, client) = try await scene(limits: limits)
        func large(_ letter: String) -> String { Self.item("text == '\(String(repeating: letter, count: 100_000))'") }
        try await expectTrue(client.bootstrap(1, large("a"), from: harness) == nil)
        let usage = try await harness.store.usage(ofApp: OwnerHarness.app).bytes
        expectTrue(usage > 100_000)
        try await expectTrue(client.bootstrap(2, large("b"), from: harness) == nil)
        let (before, record) = (try await row(client, harness), try await harness.record())
        let refusal = try #require(try await client.bootstrap(3, large("c"), from: harness))
        expectTrue(refusal.contains("quota \(quota.rawValue)"), "\(refusal.prefix(300))")
        try await expectEqual(row(client, harness).views, before.views)
        try await expectTrue(harness.record() == record)
        // The set before is in force, and what is small goes on.
        try await expectTrue(client.bootstrap(4, Self.item("a == 1"), from: harness) == nil)
        try client.write(at: 10, Items.create(1, owner: 0, a: 1))
        try await client.upload(to: harness)
        try await client.download(from: harness)
        expectTrue(client.told.isEmpty)
        expectEqual(Items.items(client.state), [1: .init(owner: 0, a: 1)])
    }
}
