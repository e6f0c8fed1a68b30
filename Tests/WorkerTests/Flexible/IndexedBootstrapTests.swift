import Changesets
import MemoryStorage
import Messages
import RealmState
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing
import Views

@testable import Worker

/// Bootstraps whose objects are found by indexes, and the filling of these.
@Suite struct IndexedBootstrapTests {
    private typealias Items = FlexibleItems

    private struct Scene {
        var harness: OwnerHarness
        var store: CountingStore
        var writer: ViewingClient
        var session: UInt64 = 1
    }

    /// Items 1 to 200 of owners 0 to 2, every fortieth of owner 2.
    private func scene(_ limits: WorkerLimits = WorkerLimits()) async throws -> Scene {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(
            limits: limits, on: store, realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await client(harness, 1)
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        try await expectTrue(writer.bootstrap(1, #"{"Item": "a != -1"}"#, from: harness) == nil)
        for key in 1...200 as ClosedRange<Int64> {
            try writer.write(
                at: 10, Items.create(key, .init(owner: key.isMultiple(of: 40) ? 2 : key % 2, a: key)))
        }
        try await writer.upload(to: harness)
        try await writer.download(from: harness)
        return Scene(harness: harness, store: store, writer: writer)
    }

    private func client(_ harness: OwnerHarness, _ session: UInt64) async throws -> ViewingClient {
        try await ViewingClient.join(
            harness, session: session, user: "u\(session)",
            roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
    }

    private func scanned(_ store: CountingStore) -> Int { store.objectsScanned.withLock { $0 } }
    private func found(_ store: CountingStore) -> Int { store.objectsFound.withLock { $0 } }

    /// What a new client gets for a query.
    private func copy(_ scene: inout Scene, _ query: String) async throws -> [Int64: Items.Item] {
        scene.session += 1
        var reader = try await client(scene.harness, scene.session)
        try await expectTrue(reader.bootstrap(1, query, from: scene.harness, maxBytes: 500) == nil)
        return Items.items(reader.state)
    }

    private func expectSoundIndexes(_ harness: OwnerHarness) async throws {
        try await expectTrue(Items.expectSoundIndexes(harness))
    }

    /// Looks at the progress over all objects of the class, by an index, and over what enters the view and then what
    /// leaves it.
    @Test func progressRisesInEqualSteps() async throws {
        var scene = try await scene()
        func expectEqualSteps(_ shares: [Double], _ what: String) {
            // The last page only says that everything is there.
            let pages = shares.dropLast()
            expectTrue(pages.count >= 3 && shares.last == 1, "\(what): \(shares)")
            guard let step = pages.first, pages.count >= 3 else { return }
            // The last one may have few objects.
            expectTrue(step < 1 / Double(pages.count - 1) + 0.05, "\(what): \(shares)")
            for (index, share) in pages.enumerated() {
                let expected = min(0.9999, Double(index + 1) * step)
                expectTrue(abs(share - expected) < 0.4 * step, "\(what), page \(index): \(shares)")
            }
        }
        for (query, isFilled) in [
            (#"{"Item": "a != -1"}"#, false), (Items.query([0, 1]), false), (Items.query([0, 1]), true),
        ] {
            if isFilled { try await scene.harness.finishJobs() }
            scene.session += 1
            var reader = try await client(scene.harness, scene.session)
            try await expectTrue(reader.bootstrap(1, query, from: scene.harness, maxBytes: 1_000) == nil)
            expectEqualSteps(Array(reader.shares.dropFirst()), "\(query) \(isFilled)")
            guard isFilled, query == Items.query([0, 1]) else { continue }
            let before = reader.shares.count
            try await expectTrue(reader.bootstrap(2, Items.query([1, 2]), from: scene.harness, maxBytes: 1_000) == nil)
            // The few that enter the view have a page of their own; what both sets have is no step.
            let shares = Array(reader.shares.dropFirst(before))
            expectTrue(zip(shares, shares.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 0.3 }, "\(shares)")
            expectTrue(shares.count >= 4 && shares[0] < 0.1 && shares.last == 1, "\(shares)")
        }
        // What the client has already is no step, though the index leads to it.
        scene.session += 1
        var reader = try await client(scene.harness, scene.session)
        for (version, query) in [(1, "a > 180"), (2, "a > 180 or a > 100"), (3, "a > 20")] as [(UInt64, String)] {
            let before = reader.shares.count
            let set = "{\"Item\": \"\(query)\"}"
            try await expectTrue(reader.bootstrap(version, set, from: scene.harness, maxBytes: 1_000) == nil)
            if version > 1 { expectEqualSteps(Array(reader.shares.dropFirst(before)), query) }
            try await scene.harness.finishJobs()
        }
    }

    @Test func aClassIsCountedNowAndThen() {
        var counts = ObjectCounts()
        let (item, other) = (TableID(rawValue: 1), TableID(rawValue: 2))
        expectTrue(counts.count(of: item, at: 5) == nil)
        expectTrue(counts.keep(5_000, of: item, at: 5) == 5_000 && counts.keep(10, of: other, at: 5) == 10)
        expectTrue(counts.count(of: item, at: 505) == 5_000 && counts.count(of: item, at: 506) == nil)
        expectTrue(counts.count(of: other, at: 105) == 10 && counts.count(of: other, at: 106) == nil)
        // A count of a later version is of an earlier history.
        expectTrue(counts.count(of: item, at: 4) == nil)
        expectEqual(counts.keep(ObjectCounts.most, of: item, at: 7), 2 * ObjectCounts.most)
    }

    /// A gateway of a release before passes a position on without what it does not know.
    @Test func progressRisesWhereNobodyKnowsHowMuchThereIs() {
        var last = 0.0
        for done in 1...20 as ClosedRange<UInt64> {
            let share = FlexibleBootstraps.progress(
                at: BootstrapPosition(table: 1, key: [], done: done * 1_000), pageBytes: 1_000)
            expectTrue(share > last && share < 1)
            last = share
        }
    }

    /// Looking for each of a set's values would take longer, however few objects have one of them.
    @Test func aSetOfMoreValuesThanTheClassHasObjectsLooksAtAllObjects() async throws {
        var scene = try await scene()
        let view = try await Items.items(scene.harness).filter { $0.value.owner == 2 }
        // The first set has an index filled.
        try await expectEqual(copy(&scene, Items.query([2])), view)
        try await scene.harness.finishJobs()
        scene.store.objectsScanned.withLock { $0 = 0 }
        let owners = ([2] + Array(10...1_100)).map { "\($0)" }.joined(separator: ", ")
        try await expectEqual(copy(&scene, #"{"Item": "owner IN {\#(owners)}"}"#), view)
        expectTrue(scanned(scene.store) >= 200 && found(scene.store) == 0)
    }

    @Test func aSetsObjectsAreFoundByAnIndexOnceItIsFilled() async throws {
        var scene = try await scene()
        let all = try await Items.items(scene.harness)
        let view = all.filter { $0.value.owner == 2 }
        // The first that asks so has all objects looked at.
        try await expectEqual(copy(&scene, Items.query([2])), view)
        expectTrue(scanned(scene.store) >= 200 && found(scene.store) == 0)
        try await scene.harness.finishJobs()
        try await expectSoundIndexes(scene.harness)

        scene.store.objectsScanned.withLock { $0 = 0 }
        try await expectEqual(copy(&scene, Items.query([2])), view)
        expectTrue(scanned(scene.store) == 0 && found(scene.store) == 5)
        try await expectEqual(
            copy(&scene, #"{"Item": "owner IN {1, 2} and a > 0"}"#), all.filter { $0.value.owner != 0 })
        // The slice's owner knows by now that sets ask for a range; nothing but the index was looked at for the items'
        // owners.
        expectEqual(scanned(scene.store), 0)
        try await scene.harness.finishJobs()
        scene.store.objectsScanned.withLock { $0 = 0 }
        scene.store.objectsFound.withLock { $0 = 0 }
        try await expectEqual(copy(&scene, #"{"Item": "a > 190 and owner IN {0, 1, 2}"}"#), all.filter { $0.key > 190 })
        expectTrue(scanned(scene.store) == 0 && found(scene.store) <= 11)
        try await expectEqual(copy(&scene, #"{"Item": "a BETWEEN {5, 7} or a == 90"}"#).keys.sorted(), [5, 6, 7, 90])
        try await expectEqual(copy(&scene, #"{"Item": "_id IN {3, 500, 44}"}"#).keys.sorted(), [3, 44])
        try await expectTrue(copy(&scene, #"{"Item": "FALSEPREDICATE"}"#).isEmpty)
        expectEqual(scanned(scene.store), 0)
        // Nothing says where these are.
        try await expectEqual(copy(&scene, #"{"Item": "a != 5"}"#), all.filter { $0.key != 5 })
        expectEqual(scanned(scene.store), 200)
    }

    /// A page ends when it has looked into so many ranges, whether there is anything in them or not.
    @Test func manyValuesAreLookedForInPages() async throws {
        var limits = WorkerLimits()
        limits.indexRangesAtOnce = 3
        limits.indexRangesPerPage = 10
        var scene = try await scene(limits)
        let view = try await Items.items(scene.harness).filter { $0.value.a > 150 }
        _ = try await copy(&scene, #"{"Item": "a == 1"}"#)
        try await scene.harness.finishJobs()
        scene.store.objectsScanned.withLock { $0 = 0 }
        scene.session += 1
        var reader = try await client(scene.harness, scene.session)
        var entries = 0
        // Nothing has most of the values, neither before nor among the others.
        let values = (Array(-100..<0) + Array(151...300)).map { "\($0)" }.joined(separator: ", ")
        let refusal = try await reader.bootstrap(
            1, #"{"Item": "a IN {\#(values)}"}"#, from: scene.harness, maxBytes: 1 << 20
        ) {
            entries += 1
            return true
        }
        expectTrue(refusal == nil)
        expectEqual(Items.items(reader.state), view)
        expectTrue(entries >= 20 && scanned(scene.store) == 0, "\(entries) pages")
        // Another owner goes on between values.
        scene.session += 1
        var next = try await client(scene.harness, scene.session)
        let harness = scene.harness
        try await expectTrue(
            next.bootstrap(1, #"{"Item": "a IN {\#(values)} and owner IN {0, 1}"}"#, from: harness) == nil)
        expectEqual(Items.items(next.state), view.filter { $0.value.owner != 2 })
    }

    @Test func entriesFollowWhatIsWritten() async throws {
        var scene = try await scene()
        _ = try await copy(&scene, Items.query([2]))
        try await scene.harness.finishJobs()
        try scene.writer.write(at: 20, Items.set(40, "owner", 1))
        try scene.writer.write(at: 20, Items.set(41, "owner", 2))
        try scene.writer.write(at: 20, Items.set(41, "owner", 0))
        try scene.writer.write(at: 20, Items.set(42, "owner", 2))
        try scene.writer.write(at: 20, Items.erase(80))
        try scene.writer.write(at: 20, Items.erase(120))
        try scene.writer.write(at: 21, Items.create(120, .init(owner: 2, a: 7)))
        try scene.writer.write(at: 20, Items.create(900, .init(owner: 2, a: 900)))
        try scene.writer.write(at: 20, Items.create(901, .init(owner: 2, a: 901)))
        try scene.writer.write(at: 22, Items.erase(901))
        try await scene.writer.upload(to: scene.harness)
        try await expectSoundIndexes(scene.harness)
        try await expectEqual(copy(&scene, Items.query([2])).keys.sorted(), [42, 120, 160, 200, 900])
        // A write that is refused leaves them as they were.
        var stranger = try await ViewingClient.join(
            scene.harness, session: 77, user: "x", roles: try Items.roles(reads: [2], writes: []))
        try await expectTrue(stranger.bootstrap(1, Items.query([2]), from: scene.harness) == nil)
        try stranger.write(at: 30, Items.set(42, "owner", 1))
        try await stranger.upload(to: scene.harness)
        try await expectSoundIndexes(scene.harness)
    }

    /// Each step is a commit, after which another owner goes on.
    @Test func fillingSurvivesTheLossOfItsOwnerAtEveryStep() async throws {
        var limits = WorkerLimits()
        limits.indexStepBytes = 400
        var scene = try await scene(limits)
        _ = try await copy(&scene, Items.query([2]))
        var owners = 0
        while IndexedColumns(
            decoding: try await scene.harness.record().indexed, at: try await scene.harness.record().latest.salt
        ).isBehind {
            await expectTrue(scene.harness.owner.hasJobs)
            _ = try await scene.harness.owner.goOnWithJobs(for: .zero)
            // The next owner hears of it with the realm's first message, which also changes what is filled already and what is not.
            scene.harness = try await OwnerHarness.make(
                limits: limits, on: scene.store, realm: scene.harness.realm)
            owners += 1
            scene.session += 1
            var writer = try await client(scene.harness, scene.session)
            try await expectTrue(
                writer.bootstrap(1, #"{"Item": "a != -1"}"#, from: scene.harness, maxBytes: 1 << 20) == nil)
            for key in [3, 101, 199] as [Int64] {
                try writer.write(at: SyncTimestamp(100 + UInt64(owners)), Items.set(key, "owner", Int64(owners % 3)))
            }
            try writer.write(
                at: 10, Items.create(Int64(1_000 - owners), .init(owner: 2, a: 1)))
            try await writer.upload(to: scene.harness)
            try #require(owners < 100)
        }
        expectTrue(owners > 5)
        try await expectSoundIndexes(scene.harness)
        let view = try await Items.items(scene.harness).filter { $0.value.owner == 2 }
        try await expectEqual(copy(&scene, Items.query([2])), view)
    }

    /// A release that knows of no indexes leaves what the heading says of them as it was, and makes versions under a salt of its own.
    @Test func indexesAreFilledAnewAfterAnOwnerWithoutIndexesWrote() async throws {
        var scene = try await scene()
        _ = try await copy(&scene, Items.query([2]))
        try await scene.harness.finishJobs()
        var record = try await scene.harness.record()
        let rows = try await scene.store.objects(in: record.id, after: nil, maxBytes: .max)
        let schema = try Schema(decoding: record.schema)
        let table = try #require(schema.table("Item"))
        let owner = try #require(table.column("owner"))
        let other = try await OwnerHarness.make(on: scene.store, realm: scene.harness.realm)
        var batch = SliceBatch()
        for (row, body) in rows where row.key == .int(40) || row.key == .int(41) {
            var object = try StoredObject(decoding: body)
            object[owner] = .int(row.key == .int(41) ? 2 : 0)
            batch.objects[record.id, default: [:]][row] = object.encoded()
        }
        record.latest.salt = 12_345
        batch.realms = [record]
        try await scene.store.commit(batch, epoch: other.owner.epoch)

        scene.harness = try await OwnerHarness.make(on: scene.store, realm: scene.harness.realm)
        let view = try await Items.items(scene.harness).filter { $0.value.owner == 2 }
        expectTrue(view[41] != nil && view[40] == nil)
        try await expectEqual(copy(&scene, Items.query([2])), view)
        try await scene.harness.finishJobs()
        try await expectSoundIndexes(scene.harness)
        scene.store.objectsScanned.withLock { $0 = 0 }
        try await expectEqual(copy(&scene, Items.query([2])), view)
        expectEqual(scanned(scene.store), 0)
    }

    @Test func aChangedSetBringsTheDifferenceByTwoIndexes() async throws {
        var scene = try await scene()
        let all = try await Items.items(scene.harness)
        _ = try await copy(&scene, #"{"Item": "owner == 2 or owner == 1"}"#)
        _ = try await copy(&scene, #"{"Item": "a > 195"}"#)
        try await scene.harness.finishJobs()
        scene.store.objectsScanned.withLock { $0 = 0 }
        scene.session += 1
        var reader = try await client(scene.harness, scene.session)
        for (version, query, expected) in [
            (1, #"{"Item": "owner == 2"}"#, { $0.owner == 2 }), (2, #"{"Item": "a > 195"}"#, { $0.a > 195 }),
            (3, #"{"Item": "owner IN {2, 1}"}"#, { $0.owner != 0 }),
            (4, #"{"Item": "owner IN {1, 2}"}"#, { $0.owner != 0 }),
            (5, #"{"Item": "_id == 7"}"#, { $0.a == 7 }), (6, #"{}"#, { _ in false }),
        ] as [(UInt64, String, (Items.Item) -> Bool)] {
            let received = reader.received.count
            try await expectTrue(reader.bootstrap(version, query, from: scene.harness, maxBytes: 300) == nil)
            expectEqual(Items.items(reader.state), all.filter { expected($0.value) }, "\(query)")
            // The same in other words brings nothing.
            if version == 4 { expectEqual(reader.received.count, received) }
        }
        expectEqual(scanned(scene.store), 0)
    }

    /// Pages go on by the index by which they began, whatever is written meanwhile; where it is gone, the client begins anew.
    @Test func pagesBearWhatHappensMeanwhile() async throws {
        var scene = try await scene()
        _ = try await copy(&scene, Items.query([0]))
        try await scene.harness.finishJobs()
        var reader = try await client(scene.harness, 50)
        var writer = scene.writer
        let harness = scene.harness
        var key: Int64 = 0
        let refusal = try await reader.bootstrap(1, Items.query([0]), from: harness, maxBytes: 100) {
            for _ in 0..<4 where key < 198 {
                key += 2
                try writer.write(at: 40, Items.set(key, "owner", (key / 2) % 3))
                try writer.write(at: 40, Items.set(key + 1, "owner", key % 4 == 0 ? 0 : 1))
            }
            try await writer.upload(to: harness)
            return true
        }
        expectTrue(refusal == nil && key > 20)
        let view = try await Items.items(harness).filter { $0.value.owner == 0 }
        expectEqual(Items.items(reader.state), view)
        try await expectSoundIndexes(harness)
    }
}
