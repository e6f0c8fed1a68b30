import AMQP
import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// A merge that takes long goes on beside its slice: nobody but its realm waits, and nobody can tell a difference afterwards.
@Suite(.hangGuard) struct MergeAsideTests {
    /// A realm whose list two clients have moved about, and another app's realm.
    private struct Scene {
        let harness: OwnerHarness
        let pool: AsidePool
        let b: ClientFileIdent

        static func make(
            pool: AsidePool = AsidePool(limit: 1), _ change: (inout WorkerLimits) -> Void = { _ in }
        ) async throws -> Scene {
            var limits = WorkerLimits()
            limits.mergeStepsInSlice = 10_000
            change(&limits)
            let harness = try await OwnerHarness.make(limits: limits, merges: pool)
            try await harness.control.insert(AppRecord(id: "quiet", createdAt: 0))
            let a = try await harness.join(session: 1)
            let b = try await harness.join(session: 2)
            try await fill(harness, realm: nil, by: a, session: 1)
            return Scene(harness: harness, pool: pool, b: b)
        }

        static func fill(
            _ harness: OwnerHarness, realm: RealmName?, by file: ClientFileIdent, session: UInt64
        ) async throws {
            let tags = (0..<4 as Range<UInt32>).map { Changes.insertTag(1, "t", at: $0, of: $0) }
            var first = harness.upload(file, session: session, [Changes.schema(), Changes.create(1)] + tags)
            var second = harness.upload(
                file, session: session, follows: 6, base: 6, timestamp: 2_000,
                [Changes.swapTags(1, first: 0, times: 200, of: 4)])
            if let realm { (first.realm, second.realm) = (realm, realm) }
            try await harness.send(first)
            try await harness.send(second)
        }

        /// Uploads in a row of the second client, each to be merged with all of the first one's moves.
        func dear(_ count: UInt64 = 3, realm: RealmName? = nil) throws -> [AMQPMessage] {
            try (0..<count).map { number in
                var upload = harness.upload(
                    b, session: 2, follows: ClientVersion(number), base: 6, timestamp: SyncTimestamp(3_000 + number),
                    [Changes.swapTags(1, first: 2, times: 200, of: 4)])
                if let realm { upload.realm = realm }
                return try AMQPMessage(upload)
            }
        }

        func other(_ number: UInt64, realm: String = "r") throws -> AMQPMessage {
            try AMQPMessage(
                ChangesetMessage(
                    realm: RealmName(app: "quiet", partition: "\"\(realm)\""), upload: nil,
                    entries: [UploadedChangeset(timestamp: SyncTimestamp(number), changeset: Changes.schema())]),
                id: "q\(realm)\(number)")
        }

        /// Has turns go on until nothing is left.
        ///
        /// - Returns: what each turn dealt with, as places in the messages, and all that was published.
        func turns(_ messages: [AMQPMessage]) async throws -> (dealt: [[Int]], published: Published) {
            let deliveries = await harness.owner.read(messages)
            var places = Array(messages.indices)
            var dealt: [[Int]] = []
            var published: [Publication] = []
            let deadline = ContinuousClock.now + .seconds(60)
            while !places.isEmpty, ContinuousClock.now < deadline {
                let turn = try await harness.owner.deal(with: places.map { deliveries[$0] })
                published += turn.publications
                let left = turn.left.map { places[$0] }
                if left.count == places.count {
                    harness.time.advance(20)
                    try await Task.sleep(for: .milliseconds(1))
                } else {
                    dealt.append(places.filter { !left.contains($0) })
                }
                places = left
            }
            return (dealt, Published(published))
        }

        /// Returns all that the realm keeps of what was merged.
        func end() async throws -> End {
            let history = try await harness.store.history(
                of: HistoryKey(realm: RealmID(1), generation: 1), after: 0, through: 100, maxBytes: .max)
            return End(
                history: history.map(\.entry.changeset),
                reciprocals: try await harness.store.reciprocals(
                    of: ClientFileKey(realm: RealmID(1), ident: b.ident), after: 0, maxBytes: .max),
                digest: try await harness.digest())
        }
    }

    private struct End: Equatable {
        var history: [[UInt8]]
        var reciprocals: [ServerVersion: [UInt8]]?
        var digest: StateDigest
    }

    @Test(arguments: [0, 4 << 20]) func itComesToTheSameAsInTheSlice(together: Int) async throws {
        let inSlice = try await Scene.make { $0.mergeStepsInSlice = .max }
        _ = try await inSlice.turns(inSlice.dear())
        let aside = try await Scene.make { $0.maxTogetherBytes = together }
        let (dealt, published) = try await aside.turns(aside.dear())
        expectEqual(Array(dealt.joined()), [0, 1, 2])
        try expectEqual(published.every(IntegratedNotice.self).last?.latest.version, 10)
        let (one, other) = (try await inSlice.end(), try await aside.end())
        expectTrue(one == other && one.history.count == 10)
        expectTrue(aside.pool.hasRoom)
    }

    @Test func othersGoOnMeanwhile() async throws {
        // Nobody gets a thread as long as the test holds the only one.
        let pool = AsidePool(limit: 1)
        var place = pool.place()
        let scene = try await Scene.make(pool: pool)
        let messages = try await scene.harness.owner.read(scene.dear(1) + [scene.other(1)])
        let first = try await scene.harness.owner.deal(with: messages)
        expectEqual(first.left, [0])
        for number in 2..<6 as Range<UInt64> {
            let others = try await scene.harness.owner.read([scene.other(number)])
            try await expectEqual(scene.harness.owner.deal(with: [messages[0]] + others).left, [0])
        }
        let rest = try await scene.harness.owner.deal(with: [messages[0]])
        expectTrue(rest.isIdle && rest.left == [0])
        withExtendedLifetime(place) {}
        place = nil
        try await expectEqual(scene.turns(scene.dear(1)).dealt, [[0]])
    }

    @Test func severalRealmsHaveTheirMergesInTurn() async throws {
        let scene = try await Scene.make()
        let second = RealmName(app: OwnerHarness.app, partition: "\"second\"")
        var bind = scene.harness.bindRequest(session: 3)
        bind.context.realm = second
        let a = try #require(try await scene.harness.send(bind).one(BoundAnswer.self).clientFile)
        bind = scene.harness.bindRequest(session: 2)
        bind.context.realm = second
        _ = try await scene.harness.send(bind)
        try await Scene.fill(scene.harness, realm: second, by: a, session: 3)
        let order = try await scene.turns(scene.dear(2) + scene.dear(2, realm: second)).dealt.flatMap(\.self)
        expectEqual(order.filter { $0 < 2 }, [0, 1])
        expectEqual(order.filter { $0 >= 2 }, [2, 3])
        expectTrue(scene.pool.hasRoom)
    }

    @Test func oneThatTakesTooMuchIsCutOffAllTheSame() async throws {
        let scene = try await Scene.make { $0.mergeStepsPerUpload = 80_000 }
        let (dealt, published) = try await scene.turns(scene.dear(1))
        expectEqual(dealt, [[0]])
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == .badChangeset && refusal.message.contains("80000 steps"))
        try await expectEqual(scene.harness.record().latest.version, 7)
    }

    @Test func anOwnerThatGoesEndsIt() async throws {
        let pool = AsidePool(limit: 1)
        do {
            let scene = try await Scene.make(pool: pool) { $0.mergeStepsPerUpload = .max }
            let upload = scene.harness.upload(
                scene.b, session: 2, base: 6, timestamp: 3_000,
                [Changes.swapTags(1, first: 2, times: 100_000, of: 4)])
            let messages = try await scene.harness.owner.read([AMQPMessage(upload)])
            try await expectEqual(scene.harness.owner.deal(with: messages).left, [0])
            expectTrue(!pool.hasRoom)
        }
        let deadline = ContinuousClock.now + .seconds(20)
        while !pool.hasRoom, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        expectTrue(pool.hasRoom)
    }

    /// What comes in its place finds nothing of it.
    @Test func anotherUploadDoesNotGetItsMerge() async throws {
        let scene = try await Scene.make()
        let messages = try await scene.harness.owner.read(scene.dear(1))
        try await expectEqual(scene.harness.owner.deal(with: messages).left, [0])
        let other = scene.harness.upload(
            scene.b, session: 2, base: 6, timestamp: 3_000, [Changes.set(1, title: "other")])
        try await expectEqual(scene.turns([AMQPMessage(other)]).dealt, [[0]])
        let last = try await scene.end().history.last
        expectEqual(last, Changes.set(1, title: "other"))
    }
}
