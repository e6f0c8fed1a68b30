import AMQP
import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// Other apps, and other realms of an app, have their turn while one's backlog is worked off.
@Suite(.hangGuard) struct SliceTurnTests {
    private struct Scene {
        let harness: OwnerHarness
        /// Upload after upload of one client, each of which has to be merged with the same history.
        let backlog: [AMQPMessage]
        /// Changesets of another app.
        let others: [AMQPMessage]

        static func make(_ change: (inout WorkerLimits) -> Void) async throws -> Scene {
            var limits = WorkerLimits()
            limits.mergeStepsPerRealm = 40_000
            limits.mergeStepsPerApp = 40_000
            limits.maxTogetherBytes = 0
            change(&limits)
            let harness = try await OwnerHarness.make(limits: limits)
            try await harness.control.insert(AppRecord(id: "quiet", createdAt: 0))
            let a = try await harness.join(session: 1)
            let b = try await harness.join(session: 2)
            let tags = (0..<4 as Range<UInt32>).map { Changes.insertTag(1, "t", at: $0, of: $0) }
            try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1)] + tags))
            try await harness.send(
                harness.upload(
                    a, follows: 6, base: 6, timestamp: 2_000, [Changes.swapTags(1, first: 0, times: 200, of: 4)]))
            let backlog = try (0..<6 as Range<UInt64>).map { number in
                try AMQPMessage(
                    harness.upload(
                        b, session: 2, follows: ClientVersion(number), base: 6,
                        timestamp: SyncTimestamp(3_000 + number),
                        [Changes.swapTags(1, first: 2, times: 200, of: 4)]))
            }
            return Scene(harness: harness, backlog: backlog, others: try others())
        }

        /// Six changesets of another app, which take next to nothing.
        static func others() throws -> [AMQPMessage] {
            try (0..<6 as Range<UInt64>).map { number in
                try AMQPMessage(
                    ChangesetMessage(
                        realm: RealmName(app: "quiet", partition: "\"r\""), upload: nil,
                        entries: [
                            UploadedChangeset(
                                timestamp: SyncTimestamp(number),
                                changeset: number == 0 ? Changes.schema() : Changes.create(Int64(number)))
                        ]), id: "q\(number)")
            }
        }

        /// What each turn deals with, as places in the messages, until nothing is left.
        func turns(_ messages: [AMQPMessage]) async throws -> [[Int]] {
            let deliveries = await harness.owner.read(messages)
            var places = Array(messages.indices)
            var turns: [[Int]] = []
            var idle = 0
            while !places.isEmpty, idle < 60_000 {
                let turn = try await harness.owner.deal(with: places.map { deliveries[$0] })
                let left = turn.left.map { places[$0] }
                if turn.isIdle {
                    harness.time.advance(20)
                    idle += 20
                } else {
                    turns.append(places.filter { !left.contains($0) })
                }
                places = left
            }
            return turns
        }
    }

    @Test func aBacklogLeavesOtherAppsTheirTurn() async throws {
        let scene = try await Scene.make { _ in }
        // The other app's messages came last, and go in the first turn, with the first one of the backlog.
        let turns = try await scene.turns(scene.backlog + scene.others)
        expectEqual(turns.first, [0, 6, 7, 8, 9, 10, 11])
        expectEqual(Array(turns.joined()).filter { $0 < 6 }, [0, 1, 2, 3, 4, 5])
        try await expectEqual(scene.harness.record().latest.version, 13)
        try await expectEqual(
            scene.harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: 3))?.upload.clientVersion, 6)
    }

    @Test func messagesOfOneRealmStayInTheirOrder() async throws {
        let scene = try await Scene.make { _ in }
        var mixed: [AMQPMessage] = []
        for (one, other) in zip(scene.backlog, scene.others) { mixed += [one, other] }
        let order = try await scene.turns(mixed).flatMap(\.self)
        expectEqual(order.filter { $0 % 2 == 0 }, [0, 2, 4, 6, 8, 10])
        expectEqual(order.filter { $0 % 2 == 1 }, [1, 3, 5, 7, 9, 11])
    }

    /// Each change reads and writes the whole object, however little it changes.
    @Test func smallChangesOfALargeObjectLeaveOtherAppsTheirTurn() async throws {
        var limits = WorkerLimits()
        limits.maxTogetherBytes = 0
        let harness = try await OwnerHarness.make(limits: limits)
        try await harness.control.insert(AppRecord(id: "quiet", createdAt: 0))
        let file = try await harness.join(session: 1)
        let text = String(repeating: "x", count: 2 << 20)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: text)]))
        let changes = try (0..<4 as Range<UInt32>).map { number in
            try AMQPMessage(
                harness.upload(
                    file, follows: ClientVersion(UInt64(number) + 3), base: 2,
                    [Changes.insertTag(1, "t", at: number, of: number)]))
        }
        let scene = Scene(harness: harness, backlog: changes, others: try Scene.others())
        let turns = try await scene.turns(scene.backlog + scene.others)
        expectEqual(turns.first, [0, 4, 5, 6, 7, 8, 9])
        expectEqual(Array(turns.joined()).filter { $0 < 4 }, [0, 1, 2, 3])
    }

    /// Alone, a backlog is worked off as fast as it goes, in commits that do not grow with it.
    @Test func aBacklogAloneDoesNotWait() async throws {
        let scene = try await Scene.make { _ in }
        try await expectEqual(scene.turns(scene.backlog), [[0], [1], [2], [3], [4], [5]])
    }

    @Test func withoutConflictsABatchIsOneTurn() async throws {
        let scene = try await Scene.make { _ in }
        try await expectEqual(scene.turns(scene.others), [[0, 1, 2, 3, 4, 5]])
    }

    @Test func allTogetherTakeNoMoreThanATurn() async throws {
        let scene = try await Scene.make {
            $0.mergeStepsPerRealm = .max
            $0.mergeStepsPerApp = .max
            $0.mergeStepsPerTurn = 100_000
        }
        let turns = try await scene.turns(scene.backlog)
        expectTrue(turns.count > 1 && turns.allSatisfy { $0.count < 6 })
    }

    /// What waits costs nothing until its turn comes: a turn reads ahead only what it may deal with.
    @Test func aBacklogIsReadAheadOnce() async throws {
        let counting = CountingStore()
        var limits = WorkerLimits()
        limits.mergeStepsPerRealm = 600_000
        limits.mergeStepsPerApp = 600_000
        limits.maxTogetherBytes = 0
        let first = try await OwnerHarness.make(limits: limits, on: counting)
        let file = try await first.join(session: 1)
        try await first.send(first.upload(file, [Changes.schema(), Changes.create(0)]))
        // An owner that has seen a class come into being has nothing to look up in it: another owner deals with the
        // backlog.
        let harness = try await OwnerHarness.make(limits: limits, on: counting, control: first.control)
        let uploads = try (0..<60 as Range<UInt64>).map { number in
            try AMQPMessage(
                harness.upload(file, follows: ClientVersion(2 + number), base: 2, [Changes.create(Int64(number + 1))]))
        }
        counting.objectsRead.withLock { $0 = [] }
        let turns = try await Scene(harness: harness, backlog: [], others: []).turns(uploads)
        expectTrue(turns.count > 5 && turns.allSatisfy { $0.count > 1 })
        expectEqual(Set(counting.objectsRead.withLock { $0 }).count, 60)
        // Each once where it is dealt with; a merge that costs more than next to nothing leaves some for the next turn.
        expectTrue(counting.objectsRead.withLock { $0 }.count < 3 * 60)
        try await expectEqual(harness.record().latest.version, 62)
    }

    // MARK: Uploads together

    /// Uploads in a row are merged together, which makes no difference to anybody.
    @Test func uploadsInARowComeToTheSameTogether() async throws {
        var ends: [([[UInt8]], [ServerVersion: [UInt8]]?, StateDigest)] = []
        for bytes in [0, 4 << 20] {
            let scene = try await Scene.make {
                $0.maxTogetherBytes = bytes
                $0.mergeStepsPerRealm = .max
                $0.mergeStepsPerApp = .max
            }
            try await expectEqual(scene.turns(scene.backlog).first, [0, 1, 2, 3, 4, 5])
            let history = try await scene.harness.store.history(
                of: HistoryKey(realm: RealmID(1), generation: 1), after: 0, through: 13, maxBytes: .max)
            let key = ClientFileKey(realm: RealmID(1), ident: 3)
            ends.append(
                (
                    history.map(\.entry.changeset),
                    try await scene.harness.store.reciprocals(of: key, after: 0, maxBytes: .max),
                    try await scene.harness.digest()
                ))
        }
        expectTrue(ends[0].0 == ends[1].0 && ends[0].1 == ends[1].1 && ends[0].2 == ends[1].2)
        expectEqual(ends[1].0.count, 13)
    }

    @Test func aBadOneAmongUploadsInARowIsRefusedAlone() async throws {
        let scene = try await Scene.make {
            $0.maxTogetherBytes = 4 << 20
            $0.mergeStepsPerRealm = .max
            $0.mergeStepsPerApp = .max
        }
        let bad = try AMQPMessage(
            scene.harness.upload(
                try await scene.harness.join(session: 3), session: 3, base: 6, timestamp: 9_000,
                [Changes.set(9, title: "")]))
        var messages = scene.backlog
        let upload = try messages[3].decode(ChangesetMessage.self)
        var broken = upload
        broken.entries[0].changeset = try bad.decode(ChangesetMessage.self).entries[0].changeset
        messages[3] = try AMQPMessage(broken)
        let deliveries = await scene.harness.owner.read(messages)
        let published = Published(try await scene.harness.owner.deal(with: deliveries).publications)
        expectEqual(published.dead.count, 1)
        let refusals = try published.every(RefusedAnswer.self)
        expectTrue(refusals.first?.code == .badChangeset && refusals.first?.integrated == 3)
        try await expectEqual(scene.harness.record().latest.version, 10)
    }
}
