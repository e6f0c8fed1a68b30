import Changesets
import Messages
import RealmState
import SeededRandom
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing
import Views

@testable import Worker

/// Uploads in flexible mode cost what they change: what their objects have met is read once, and merged with once, for all changesets.
@Suite(.hangGuard) struct UploadCostTests {
    private typealias Items = FlexibleItems
    private static let all = Set<Int64>([0, 1, 2])

    /// Makes a client that writes to item 1, and another one that changes the item offline.
    private func pair(
        versions: Int, changesets: Int, on store: CountingStore, limits: WorkerLimits = WorkerLimits(),
        takesTurns: Bool = false
    ) async throws -> (harness: OwnerHarness, other: ViewingClient) {
        let harness = try await OwnerHarness.make(
            limits: limits, on: store, realm: RealmName(flexible: OwnerHarness.app), takesTurns: takesTurns)
        let roles = try Items.roles(reads: Self.all, writes: Self.all)
        var writer = try await ViewingClient.join(harness, session: 1, user: "u1", roles: roles)
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        try await expectTrue(writer.bootstrap(1, Items.query(Self.all), from: harness) == nil)
        try writer.write(at: 2, Items.create(1, .init(owner: 0, a: 0)))
        try await writer.upload(to: harness)
        var other = try await ViewingClient.join(harness, session: 2, user: "u2", roles: roles)
        try await other.download(from: harness)
        try await expectTrue(other.bootstrap(1, Items.query([0, 1]), from: harness) == nil)
        for number in 0..<versions {
            try writer.write(at: SyncTimestamp(10 + UInt64(number)), Items.set(1, "owner", Int64(number % 2)))
        }
        try await writer.upload(to: harness)
        for number in 0..<changesets {
            try other.write(at: SyncTimestamp(5_000 + UInt64(number)), Items.set(1, "a", Int64(number)))
        }
        return (harness, other)
    }

    @Test func theHistoryIsReadOnceForAllChangesets() async throws {
        let store = CountingStore()
        var limits = WorkerLimits()
        // Nothing of it is in memory.
        limits.maxRecentHistoryBytes = 0
        limits.maxParsedBytes = 0
        var (harness, other) = try await pair(versions: 400, changesets: 60, on: store, limits: limits)
        store.historyRead.withLock { $0 = 0 }
        store.objectsRead.withLock { $0 = [] }
        try await other.upload(to: harness)
        // To judge, and to merge.
        let read = store.historyRead.withLock { $0 }
        expectTrue(read <= 2 * 401 + 2, "\(read)")
        expectTrue(store.objectsRead.withLock { $0.count } <= 1)
        try await other.download(from: harness)
        try await expectEqual(Items.items(harness), [1: .init(owner: 1, a: 59)])
        expectEqual(Items.items(other.state), [1: .init(owner: 1, a: 59)])
        expectTrue(other.told.isEmpty)
    }

    /// A merge beside the slice goes on step by step: the history that its upload's objects have met is not read again
    /// for each step.
    @Test func objectHistoryReadForAMergeOutlastsAPause() async throws {
        let store = CountingStore()
        var limits = WorkerLimits()
        limits.maxRecentHistoryBytes = 0
        limits.maxParsedBytes = 0
        limits.maxWindowBytes = 4_000
        limits.mergeStepsInSlice = 0
        var (harness, other) = try await pair(
            versions: 400, changesets: 20, on: store, limits: limits, takesTurns: true)
        store.historyRead.withLock { $0 = 0 }
        try await other.upload(to: harness)
        let read = store.historyRead.withLock { $0 }
        expectTrue(read <= 2 * 401 + 32, "\(read)")
        try await expectEqual(Items.items(harness), [1: .init(owner: 1, a: 19)])
    }

    /// Many changesets over a long history take about as much as both together, and not their product.
    @Test func manyChangesetsOverALongHistoryAreWithinTheBudget() async throws {
        var limits = WorkerLimits()
        limits.mergeStepsPerUpload = 1_000_000
        var (harness, other) = try await pair(versions: 400, changesets: 200, on: CountingStore(), limits: limits)
        try await other.upload(to: harness)
        try await expectEqual(Items.items(harness), [1: .init(owner: 1, a: 199)])
    }

    /// Whether changesets come in one message or each in its own, they end alike.
    @Test func togetherTheyAreJudgedAsOneByOne() async throws {
        var told = 0
        for seed in UInt64(1)...60 {
            let script = Script(seed: seed)
            let (together, client) = try await script.play(atMost: .max)
            let (alone, _) = try await script.play(atMost: 1)
            guard together == alone else {
                Issue.record("seed \(seed): together \(together), one by one \(alone)")
                return
            }
            told += client.told.flatMap(\.updates).count
            expectEqual(
                Items.items(client.state), together.filter { [0, 1].contains($0.value.owner) && $0.value.a <= 8 })
        }
        expectTrue(told > 10, "\(told)")
    }

    /// What two clients do to a few items, one of them offline.
    private struct Script {
        private enum Act { case create(Item), erase, replace(Item), set(ByteString, Int64) }
        private typealias Item = FlexibleItems.Item
        private var others: [(Int64, Act)] = []
        private var own: [(UInt64, [(Int64, Act)])] = []

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            func act() -> (Int64, Act) {
                let item = Item(owner: Int64(random.below(3)), a: Int64(random.below(10)))
                let act: Act =
                    switch random.below(10) {
                    case 0, 1: .create(item)
                    case 2: .erase
                    case 3: .replace(item)
                    case 4, 5: .set("owner", item.owner)
                    default: .set("a", item.a)
                    }
                return (Int64(1 + random.below(3)), act)
            }
            others = (0..<6).map { _ in act() }
            own = (0..<8).map { _ in
                (UInt64(10 + random.below(40)), (0..<1 + random.below(2)).map { _ in act() })
            }
            own.sort { $0.0 < $1.0 }
        }

        private func write(_ acts: [(Int64, Act)], at time: UInt64, by client: inout ViewingClient) throws {
            // As a client records them: it makes what is not there, and changes what is.
            var here = Set(FlexibleItems.items(client.state).keys)
            try client.write(at: SyncTimestamp(time)) { changeset in
                for (key, act) in acts {
                    switch act {
                    case .create(let item):
                        guard here.insert(key).inserted else { continue }
                        FlexibleItems.create(key, item)(&changeset)
                    case .erase: if here.remove(key) != nil { FlexibleItems.erase(key)(&changeset) }
                    case .replace(let item):
                        guard here.contains(key) else { continue }
                        FlexibleItems.erase(key)(&changeset)
                        FlexibleItems.create(key, item)(&changeset)
                    case .set(let field, let value):
                        if here.contains(key) { FlexibleItems.set(key, field, value)(&changeset) }
                    }
                }
            }
        }

        func play(atMost count: Int) async throws -> ([Int64: FlexibleItems.Item], ViewingClient) {
            let all = UploadCostTests.all
            let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
            var writer = try await ViewingClient.join(
                harness, session: 1, user: "u1", roles: try FlexibleItems.roles(reads: all, writes: all))
            try writer.make(FlexibleItems.schema(), at: 1)
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            try await writer.bootstrap(1, FlexibleItems.query(all), from: harness)
            for key in [1, 2] as [Int64] { try writer.write(at: 2, FlexibleItems.create(key, .init(owner: 0, a: 0))) }
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            // May write what it may not set `a` too high in.
            var client = try await ViewingClient.join(
                harness, session: 2, user: "u2", roles: try FlexibleItems.roles(reads: all, writes: [0, 1], maxA: 8))
            try await client.download(from: harness)
            try await client.bootstrap(1, FlexibleItems.query([0, 1]), from: harness)
            for (index, act) in others.enumerated() {
                try write([act], at: 15 + 5 * UInt64(index), by: &writer)
                try await writer.upload(to: harness)
            }
            for (time, acts) in own { try write(acts, at: time, by: &client) }
            while client.hasUnsynced { try await client.upload(to: harness, atMost: count) }
            try await client.download(from: harness)
            try await client.upload(to: harness)
            try await client.download(from: harness)
            return (try await FlexibleItems.items(harness), client)
        }
    }
}

/// Views that were read stay as long as there is room.
@Suite struct ViewCacheTests {
    private static func schema() throws -> Schema {
        var state = RealmState()
        try state.apply(Changeset(parsing: FlexibleItems.schema()))
        return state.schema
    }

    private func definition(_ number: Int, length: Int = 0) -> ViewDefinition {
        let values = (0..<length).map { ", \(1_000_000 + $0)" }.joined()
        return ViewDefinition(
            version: UInt64(number), queries: "{\"Item\": \"a IN {\(number)\(values)}\"}",
            roles: (try? FlexibleItems.roles(reads: [0], writes: [0])) ?? "")
    }

    @Test func aViewIsReadOnce() throws {
        let schema = try Self.schema()
        var cache = ViewCache()
        for _ in 0..<5 {
            cache.begin(FoundViews())
            for number in 0..<10 { _ = try cache.view(definition(number), schema: schema, version: nil) }
        }
        expectEqual(cache.reads, 10)
    }

    /// Someone who has had more views than there is room for does not have all of them read again and again.
    @Test func viewsBeyondTheCachesRoomLeaveTheOthersCached() throws {
        let schema = try Self.schema()
        var cache = ViewCache(maxBytes: 400_000)
        for _ in 0..<5 {
            cache.begin(FoundViews())
            for number in 0..<40 {
                _ = try cache.view(definition(number, length: 100), schema: schema, version: nil)
                expectTrue(cache.bytes <= 400_000)
            }
        }
        expectTrue(cache.reads < 40 + 4 * 25, "\(cache.reads)")
        // When it is gone others have the room.
        for _ in 0..<6 {
            cache.begin(FoundViews())
            for number in 100..<110 {
                _ = try cache.view(definition(number, length: 100), schema: schema, version: nil)
            }
        }
        let before = cache.reads
        cache.begin(FoundViews())
        for number in 100..<110 { _ = try cache.view(definition(number, length: 100), schema: schema, version: nil) }
        expectEqual(cache.reads, before)
    }
}
