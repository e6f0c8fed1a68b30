import Changesets
import Messages
import RealmState
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What a client in flexible mode wrote offline counts, change by change, whatever the others did to the same objects meanwhile, and its copy ends
/// as the realm is.
@Suite struct OfflineWriteTests {
    private typealias Items = FlexibleItems
    private static let all = Set<Int64>([0, 1, 2])

    /// A client that writes, and another one whose view has the items of owner 0.
    private struct Pair {
        let harness: OwnerHarness
        var writer: ViewingClient
        var other: ViewingClient

        static func make(limits: WorkerLimits = WorkerLimits()) async throws -> Pair {
            let harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
            let roles = try Items.roles(reads: all, writes: all)
            var writer = try await ViewingClient.join(harness, session: 1, user: "u1", roles: roles)
            try writer.make(Items.schema(), at: 1)
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            try await expectTrue(writer.bootstrap(1, Items.query(all), from: harness) == nil)
            try writer.write(at: 2, Items.create(1, .init(owner: 0, a: 0)))
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            var other = try await ViewingClient.join(harness, session: 2, user: "u2", roles: roles)
            try await other.download(from: harness)
            try await expectTrue(other.bootstrap(1, Items.query([0]), from: harness) == nil)
            return Pair(harness: harness, writer: writer, other: other)
        }

        /// The item leaves the other's view and is back in it.
        mutating func outAndIn() async throws {
            try writer.write(at: 20, Items.set(1, "owner", 1))
            try await writer.upload(to: harness)
            try writer.write(at: 21, Items.set(1, "owner", 0))
            try await writer.upload(to: harness)
        }

        mutating func settle() async throws {
            for _ in 0..<2 {
                try await other.upload(to: harness)
                try await other.download(from: harness)
                try await writer.download(from: harness)
            }
        }
    }

    @Test(arguments: [false, true]) func eachChangeOfAnObjectThatLeftTheViewAndCameBackCounts(
        downloadsFirst: Bool
    ) async throws {
        var pair = try await Pair.make()
        for value in 1...3 as ClosedRange<Int64> {
            try pair.other.write(at: SyncTimestamp(30 + UInt64(value)), Items.set(1, "a", value))
        }
        try await pair.outAndIn()
        if downloadsFirst { try await pair.other.download(from: pair.harness) }
        try await pair.settle()
        for state in [pair.other.state, pair.writer.state] {
            expectEqual(Items.items(state), [1: .init(owner: 0, a: 3)])
        }
    }

    /// The client's own erasure is older than the one with which it is sent the object anew, and gives way to it in its copy.
    @Test(arguments: [UInt64(3), 30]) func anErasureCountsThoughTheObjectHasComeAnewBefore(time: UInt64) async throws {
        var pair = try await Pair.make()
        try pair.other.write(at: SyncTimestamp(time), Items.erase(1))
        try await pair.outAndIn()
        try await pair.other.download(from: pair.harness)
        try await pair.settle()
        for state in [pair.other.state, pair.writer.state] { expectEqual(Items.items(state), [:]) }
    }

    @Test(arguments: [UInt64(3), 30], [false, true])
    func anObjectThatTakesAnothersPlaceInOneTransactionCounts(time: UInt64, downloadsFirst: Bool) async throws {
        var pair = try await Pair.make()
        try pair.other.write(at: SyncTimestamp(time)) {
            Items.erase(1)(&$0)
            Items.create(1, .init(owner: 0, a: 7))(&$0)
        }
        try await pair.outAndIn()
        if downloadsFirst { try await pair.other.download(from: pair.harness) }
        try await pair.settle()
        expectTrue(pair.other.told.isEmpty)
        for state in [pair.other.state, pair.writer.state] {
            expectEqual(Items.items(state), [1: .init(owner: 0, a: 7)])
        }
    }

    /// A client that is far behind, and has erased what it had made and uploaded: the object that it is sent anew does not outlive that.
    @Test(arguments: [UInt64(3), 30]) func anErasureCountsForAClientThatIsFarBehind(time: UInt64) async throws {
        var limits = WorkerLimits()
        limits.maxViewArrears = 0
        var pair = try await Pair.make(limits: limits)
        try pair.other.write(at: 3, Items.create(2, .init(owner: 0, a: 1)))
        try await pair.other.upload(to: pair.harness)
        try pair.other.write(at: SyncTimestamp(time), Items.erase(2))
        try await pair.writer.download(from: pair.harness)
        try pair.writer.write(at: 20, Items.set(2, "a", 5))
        try await pair.writer.upload(to: pair.harness)
        try await pair.other.connect(to: pair.harness, session: 3, user: "u2")
        expectEqual(Items.items(pair.other.state)[1], .init(owner: 0, a: 0))
        try await pair.settle()
        for state in [pair.other.state, pair.writer.state] {
            expectEqual(Items.items(state), [1: .init(owner: 0, a: 0)])
        }
    }

    /// The reference does the same: the object that is there comes in place of the client's, whose user has done
    /// nothing wrong.
    @Test func anObjectOfAKeyThatIsTakenGivesWayInSilence() async throws {
        var pair = try await Pair.make()
        var client = try await ViewingClient.join(
            pair.harness, session: 3, user: "u3", roles: try Items.roles(reads: Self.all, writes: Self.all))
        try await client.download(from: pair.harness)
        try await expectTrue(client.bootstrap(1, Items.query([2]), from: pair.harness) == nil)
        // Offline it subscribes to the item, makes one of the same key, and goes on with it.
        try client.write(at: 10, Items.create(1, .init(owner: 0, a: 5)))
        try client.write(at: 11, Items.set(1, "a", 6))
        try client.write(at: 12, Items.create(2, .init(owner: 0, a: 7)))
        try await expectTrue(client.bootstrap(2, Items.query([0]), from: pair.harness) == nil)
        try await client.upload(to: pair.harness)
        try await client.download(from: pair.harness)
        expectTrue(client.told.isEmpty)
        let expected: [Int64: Items.Item] = [1: .init(owner: 0, a: 0), 2: .init(owner: 0, a: 7)]
        expectEqual(Items.items(client.state), expected)
        try await expectEqual(Items.items(pair.harness), expected)
        // What it does once it has the other one counts.
        try client.write(at: 13, Items.set(1, "a", 8))
        try await client.upload(to: pair.harness)
        try await client.download(from: pair.harness)
        try await expectTrue(Items.items(pair.harness)[1] == .init(owner: 0, a: 8) && client.told.isEmpty)
        // An object whose key is taken out of the client's sight is lost, and the user is told.
        try pair.writer.write(at: 20, Items.create(3, .init(owner: 1, a: 0)))
        try await pair.writer.upload(to: pair.harness)
        try client.write(at: 21, Items.create(3, .init(owner: 0, a: 9)))
        try await client.upload(to: pair.harness)
        try await client.download(from: pair.harness)
        expectEqual(client.told.flatMap(\.updates).map(\.reason).count, 1)
        expectTrue(Items.items(client.state)[3] == nil)
    }

    /// An app marks something as done, does not show it any more, and then says when it was done.
    @Test func writesToObjectsAClientTookFromItsViewCount() async throws {
        var pair = try await Pair.make()
        try pair.other.write(at: 10, Items.set(1, "owner", 1))
        try pair.other.write(at: 11, Items.set(1, "a", 4))
        try await pair.other.upload(to: pair.harness)
        try pair.other.write(at: 12, Items.set(1, "a", 5))
        try await pair.settle()
        expectTrue(pair.other.told.isEmpty && Items.items(pair.other.state).isEmpty)
        expectEqual(Items.items(pair.writer.state), [1: .init(owner: 1, a: 5)])
    }

    /// The object is not erased in the hands of the app that changes it.
    @Test func theFirstChangeOfWhatCameWithASetIsOnlyAcknowledged() async throws {
        var pair = try await Pair.make()
        let sent = pair.other.received.count
        try pair.other.write(at: 10, Items.set(1, "a", 7))
        try await pair.other.upload(to: pair.harness)
        try await pair.other.download(from: pair.harness)
        expectTrue(pair.other.received.count == sent && Items.items(pair.other.state) == [1: .init(owner: 0, a: 7)])
        expectTrue(pair.other.progress.upload.clientVersion > 0)
        try await expectEqual(Items.items(pair.harness), [1: .init(owner: 0, a: 7)])
    }

    /// The client is never sent the other's write, so its own would stay in its copy.
    @Test func forbiddenWritesAreUndoneThoughNewerOnesReplacedThem() async throws {
        var pair = try await Pair.make()
        var client = try await ViewingClient.join(
            pair.harness, session: 3, user: "u3",
            roles: try Items.roles(reads: Self.all, writes: Self.all, hidesA: true))
        try await client.download(from: pair.harness)
        try await expectTrue(client.bootstrap(1, Items.query(Self.all), from: pair.harness) == nil)
        try client.write(at: 10, Items.set(1, "a", 5))
        try pair.writer.write(at: 20, Items.set(1, "a", 7))
        try await pair.writer.upload(to: pair.harness)
        try await client.upload(to: pair.harness)
        try await client.download(from: pair.harness)
        expectEqual(Items.items(client.state), [1: .init(owner: 0, a: 0)])
        expectEqual(client.told.flatMap(\.updates).map(\.className), ["Item"])
        try await expectEqual(Items.items(pair.harness), [1: .init(owner: 0, a: 7)])
    }

    @Test func aLongTimeOfflineIsUploadedToItsEnd() async throws {
        var pair = try await Pair.make()
        let keys = 1...150 as ClosedRange<Int64>
        for key in keys.dropFirst() { try pair.writer.write(at: 3, Items.create(key, .init(owner: 0, a: 0))) }
        try await pair.writer.upload(to: pair.harness)
        try await pair.other.download(from: pair.harness)
        for key in keys { try pair.other.write(at: 30, Items.set(key, "a", key)) }
        try pair.writer.write(at: 20) { for key in keys { Items.set(key, "owner", 1)(&$0) } }
        try await pair.writer.upload(to: pair.harness)
        try pair.writer.write(at: 21) { for key in keys { Items.set(key, "owner", 0)(&$0) } }
        try await pair.writer.upload(to: pair.harness)
        try await pair.settle()
        let expected = Dictionary(uniqueKeysWithValues: keys.map { ($0, Items.Item(owner: 0, a: $0)) })
        for state in [pair.other.state, pair.writer.state] { expectEqual(Items.items(state), expected) }
    }
}
