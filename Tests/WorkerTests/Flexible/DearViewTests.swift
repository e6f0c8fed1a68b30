import Changesets
import Messages
import Query
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// Sets that take long on objects: pages end early, and what is too much is refused, or ends, and holds up nobody.
@Suite(.hangGuard) struct DearViewTests {
    private typealias Items = FlexibleItems

    /// Takes next to nothing for owner 1's items, and 8 steps a comparison for all others, which it selects.
    private static func query(_ comparisons: Int) -> String {
        let rest = (0..<comparisons).map { "a != \(1_000 + $0)" }.joined(separator: " and ")
        return #"{"Item": "owner == 1 or (\#(rest))"}"#
    }

    private func client(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
    }

    /// A writer of items.
    private func scene(
        _ limits: WorkerLimits, items: [Int64: Items.Item]
    ) async throws -> (harness: OwnerHarness, writer: ViewingClient) {
        let harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await client(harness, 1)
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        for (index, item) in items.sorted(by: { $0.key < $1.key }).enumerated() {
            try writer.write(at: SyncTimestamp(10 + UInt64(index)), Items.create(item.key, item.value))
        }
        try await writer.upload(to: harness)
        return (harness, writer)
    }

    private func limits(perObject: Int) -> WorkerLimits {
        var limits = WorkerLimits()
        limits.evaluation.stepsPerObject = perObject
        return limits
    }

    @Test func aSetThatTakesTooMuchOnAnObjectIsRefusedAndItsSessionLives() async throws {
        var (harness, writer) = try await scene(
            limits(perObject: 500), items: [1: .init(owner: 1, a: 1), 2: .init(owner: 0, a: 1)])
        var other = try await client(harness, 2)
        try await expectTrue(other.bootstrap(1, Items.query([1]), from: harness) == nil)
        let refusal = try #require(try await other.bootstrap(2, Self.query(100), from: harness))
        expectTrue(
            refusal.contains("class \"Item\"") && refusal.contains("conditions together")
                && refusal.contains("500 steps"),
            "\(refusal)")
        // The set before is in force, and what does not take long comes.
        try writer.write(at: 30, Items.set(1, "a", 2))
        try await writer.upload(to: harness)
        try await other.download(from: harness)
        expectEqual(Items.items(other.state), [1: .init(owner: 1, a: 2)])
        try await expectTrue(other.bootstrap(3, Self.query(20), from: harness) == nil)
        expectEqual(Items.items(other.state).count, 2)
        expectEqual(other.sessionsEnded, 0)
    }

    /// A page ends when it has taken its time, with all that it has looked at.
    @Test func setsThatTakeLongComeInMorePages() async throws {
        let items = Dictionary(uniqueKeysWithValues: (1...40).map { (Int64($0), Items.Item(owner: 0, a: Int64($0))) })
        var counts: [Int] = []
        for steps in [1, 4_000, 1 << 22] {
            var limits = WorkerLimits()
            limits.evaluation.stepsPerPage = steps
            let (harness, _) = try await scene(limits, items: items)
            var other = try await client(harness, 2)
            try await other.download(from: harness)
            let before = other.pages
            try await expectTrue(other.bootstrap(1, Self.query(100), from: harness, maxBytes: 1 << 20) == nil)
            expectEqual(Items.items(other.state), items)
            let shares = Array(other.shares.suffix(other.pages - before))
            expectEqual(shares, shares.sorted())
            counts.append(other.pages - before)
        }
        // An object a page, then five or so.
        expectTrue(counts[0] >= 40 && (8...14).contains(counts[1]) && counts[2] <= 2, "\(counts)")
    }

    /// A commit of many objects takes longer than one answer may: what it means for the client comes in pages, each of some of its objects.
    @Test func aLargeCommitComesInPages() async throws {
        var limits = WorkerLimits()
        limits.evaluation.stepsPerRequest = 20_000
        limits.evaluation.stepsPerPage = 4_000
        var (harness, writer) = try await scene(limits, items: [1: .init(owner: 1, a: 1)])
        var other = try await client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.query(100), from: harness) == nil)
        try writer.write(at: 20) { changeset in
            for key in 2...60 as ClosedRange<Int64> { Items.create(key, .init(owner: 0, a: key))(&changeset) }
            Items.set(1, "owner", 2)(&changeset)
        }
        try await writer.upload(to: harness)
        let pages = other.pages
        try await other.download(from: harness)
        expectEqual(other.sessionsEnded, 1)
        expectTrue((10...20).contains(other.pages - pages), "\(other.pages - pages)")
        try await expectEqual(Items.items(other.state), Items.items(harness))
        // Then version by version again.
        try writer.write(at: 30, Items.set(5, "a", 2))
        try await writer.upload(to: harness)
        try await other.download(from: harness)
        expectEqual(other.sessionsEnded, 1)
        try await expectEqual(Items.items(other.state), Items.items(harness))
    }

    /// Others' objects have grown: the set ends with its reason, each time at the same cost, and its client comes to another one.
    @Test func aSetThatHasBecomeTooDearEndsAndAnotherComes() async throws {
        var (harness, writer) = try await scene(limits(perObject: 500), items: [1: .init(owner: 1, a: 1)])
        var other = try await client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.query(100), from: harness) == nil)
        expectEqual(Items.items(other.state).count, 1)
        try writer.write(at: 20, Items.create(2, .init(owner: 0, a: 1)))
        try writer.write(at: 21, Items.set(1, "a", 7))
        try await writer.upload(to: harness)
        other.allowsRefusal = true
        for round in 1...3 as ClosedRange<UInt64> {
            if round == 1 {
                try await other.download(from: harness)
            } else {
                try await expectTrue(!other.connect(to: harness, session: 100 + round, user: "u2"))
            }
            expectTrue(other.refusedCatchUp?.contains("500 steps") == true, "\(other.refusedCatchUp ?? "")")
        }
        expectEqual(other.sessionsEnded, 1)
        try await expectTrue(other.bootstrap(2, Items.query([0, 1]), from: harness) == nil)
        try await expectEqual(Items.items(other.state), Items.items(harness))
        // The client's own writes go on.
        try other.write(at: 40, Items.set(1, "a", 9))
        try await other.upload(to: harness)
        try await writer.download(from: harness)
        try await expectEqual(Items.items(writer.state), Items.items(harness))
        expectEqual(Items.items(writer.state)[1], .init(owner: 1, a: 9))
    }

    /// The user's roles have changed, and it cannot be told version by version what the client holds: what the old roles may have shown goes, what
    /// the new ones show comes whole, and of what neither has ever shown the client hears nothing.
    @Test func aSetThatCannotBeFollowedIsReplacedByOtherRoles() async throws {
        let harness = try await OwnerHarness.make(
            limits: limits(perObject: 500), realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await ViewingClient.join(harness, session: 1, user: "u1", roles: try Items.openRoles())
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        try await expectTrue(writer.bootstrap(1, #"{"Item": "TRUEPREDICATE"}"#, from: harness) == nil)
        let owners: [Int64: Int64] = [10: 0, 11: 1, 12: 2, 20: 0, 21: 1, 22: 2, 23: 3, 24: 1, 30: 0]
        for (key, owner) in owners.sorted(by: { $0.key < $1.key }) {
            try writer.write(at: SyncTimestamp(UInt64(key)), Items.create(key, .init(owner: owner, a: 1)))
        }
        try await writer.upload(to: harness)
        var other = try await ViewingClient.join(
            harness, session: 2, user: "u2", roles: try Items.roles(reads: [0, 1], writes: []))
        let rest = (0..<100).map { "a != \(2_000 + $0)" }.joined(separator: " and ")
        try await expectTrue(
            other.bootstrap(1, #"{"Item": "a < 1000 or (\#(rest))"}"#, from: harness) == nil)
        expectEqual(Items.items(other.state).keys.sorted(), [10, 11, 20, 21, 24, 30])

        for key in [20, 21, 22, 23] as [Int64] { try writer.write(at: 50, Items.set(key, "a", 2)) }
        try writer.write(at: 50, Items.set(24, "owner", 3))
        // Trying this one takes too much for a while.
        try writer.write(at: 50, Items.set(30, "a", 5_000))
        try await writer.upload(to: harness)
        try writer.write(at: 51, Items.set(30, "a", 2))
        try await writer.upload(to: harness)
        other.roles = try Items.roles(reads: [0, 2], writes: [])
        let received = other.received.count
        try await other.download(from: harness)
        expectEqual(other.sessionsEnded, 1)
        expectEqual(
            Items.items(other.state),
            [
                10: .init(owner: 0, a: 1), 12: .init(owner: 2, a: 1), 20: .init(owner: 0, a: 2),
                22: .init(owner: 2, a: 2), 30: .init(owner: 0, a: 2),
            ])
        let told = try Set(
            other.received.dropFirst(received).flatMap { try Changeset(parsing: $0).touchedAddresses.map(\.key) })
        expectTrue(told.contains(.int(21)) && told.contains(.int(24)) && !told.contains(.int(23)))
    }

    /// Judging an upload has its budget, as merging has: beyond, its client must reset, and nobody else notices.
    @Test func anUploadThatTakesTooMuchToBeJudgedIsCutOff() async throws {
        var limits = WorkerLimits()
        limits.evaluation.stepsPerUpload = 5_000
        var (harness, writer) = try await scene(limits, items: [1: .init(owner: 1, a: 1)])
        var other = try await client(harness, 2)
        try await expectTrue(other.bootstrap(1, Self.query(100), from: harness) == nil)
        try other.write(at: 20) { changeset in
            for key in 2...60 as ClosedRange<Int64> { Items.create(key, .init(owner: 0, a: key))(&changeset) }
        }
        let refusal = try #require(try await other.refusal(from: harness))
        expectTrue(
            refusal.code == ErrorCode.badChangeset && refusal.message.contains("5000 steps"), "\(refusal.message)")
        try await expectEqual(Items.items(harness).count, 1)
        try writer.write(at: 30, Items.set(1, "a", 3))
        try await writer.upload(to: harness)
        try await expectEqual(Items.items(harness), [1: .init(owner: 1, a: 3)])
    }
}
