import AMQP
import Changesets
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// A message that cannot be dealt with is undone alone: what stands before it in its batch stays, and what comes after it finds
/// the realm as if it had never come.
@Suite(.hangGuard) struct BadMessageTests {
    private struct Scene {
        let store: CountingStore
        let harness: OwnerHarness
        /// The client files of sessions 1 to 4; the uploads of the second one cannot be dealt with while reset cases
        /// are damaged.
        let files: [ClientFileIdent]

        static func make(limits: WorkerLimits = WorkerLimits()) async throws -> Scene {
            let store = CountingStore()
            let before = try await OwnerHarness.make(on: store)
            var files: [ClientFileIdent] = []
            for session in 1...4 { files.append(try await before.join(session: UInt64(session))) }
            try await before.send(
                before.upload(
                    files[0], [Changes.schema(), Changes.create(1), Changes.create(2), Changes.create(3)]))
            let key = ClientFileKey(realm: try await before.record().id, ident: files[1].ident)
            var fresh = try #require(try await store.clientFile(key))
            fresh.resetOf = 99
            var batch = SliceBatch()
            batch.clientFiles = [fresh]
            try await store.commit(batch, epoch: before.owner.epoch)
            let harness = try await OwnerHarness.make(limits: limits, on: store)
            store.objectsRead.withLock { $0 = [] }
            return Scene(store: store, harness: harness, files: files)
        }

        func upload(
            by index: Int, follows: ClientVersion? = nil, base: ServerVersion = 4, _ changesets: [[UInt8]]
        ) throws -> AMQPMessage {
            try AMQPMessage(
                harness.upload(
                    files[index], session: UInt64(index + 1), follows: follows ?? (index == 0 ? 4 : 0), base: base,
                    changesets))
        }

        /// Two good uploads with a bad one between them that has changed objects, list and schema before it fails.
        func batch() throws -> [AMQPMessage] {
            [
                try upload(by: 0, [Changes.set(1, title: "first"), Changes.insertTag(2, "a", at: 0, of: 0)]),
                try upload(
                    by: 1,
                    [
                        Changes.insertTag(2, "bad", at: 0, of: 0), Changes.set(3, title: "bad"), Changes.erase(1),
                        Changes.addColumn("bad", .int),
                    ]),
                try upload(by: 2, [Changes.set(3, title: "third"), Changes.insertTag(2, "c", at: 0, of: 0)]),
            ]
        }
    }

    @Test func theGoodOnesAreGoneThroughOnce() async throws {
        let scene = try await Scene.make()
        scene.store.hasDamagedCases.withLock { $0 = true }
        let published = try await scene.harness.send(try scene.batch())

        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.session.number == 2 && refusal.code == 229)
        expectTrue(published.dead.isEmpty)
        let notice = try published.one(IntegratedNotice.self)
        expectTrue(notice.follows == 4 && notice.latest.version == 8)
        expectEqual(notice.entries.map(\.originFile), [2, 2, 4, 4].map { FileIdent($0) })
        expectEqual(notice.acknowledgements.map(\.clientFile), [scene.files[0].ident, scene.files[2].ident])
        // What is in memory already is not read for the messages after it.
        let rows = scene.store.objectsRead.withLock { $0 }
        expectTrue(rows.count == Set(rows).count && rows.count == 3)
        try await expectEqual(scene.harness.titles(), [1: "first", 2: "", 3: "third"])
        let record = try await scene.harness.record()
        try await expectEqual(
            scene.store.clientFile(ClientFileKey(realm: record.id, ident: scene.files[1].ident))?.upload, UploadCursor()
        )
    }

    /// The owner's memory and its store are what they would be if the message had come later.
    @Test(arguments: [true, false]) func messagesAfterABadOneFindTheRealmUntouched(usesIndex: Bool) async throws {
        var limits = WorkerLimits()
        limits.usesHistoryIndex = usesIndex
        let scene = try await Scene.make(limits: limits)
        scene.store.hasDamagedCases.withLock { $0 = true }
        try await scene.harness.send(try scene.batch())
        scene.store.hasDamagedCases.withLock { $0 = false }
        let straight = try await Scene.make(limits: limits)
        let batch = try straight.batch()
        try await straight.harness.send([batch[0], batch[2]])
        for other in [scene, straight] {
            // The same upload once more, then others that conflict with all of it.
            try await other.harness.send([batch[1]])
            let late = try other.upload(
                by: 3,
                [
                    Changes.insertTag(2, "d", at: 0, of: 0), Changes.set(1, title: "late"),
                    Changes.set(3, title: "late"),
                ])
            try await other.harness.send([late])
            try await other.harness.send([
                other.upload(by: 2, follows: 2, [Changes.insertTag(2, "e", at: 1, of: 1)])
            ])
        }
        try await expectEqual(scene.harness.record().latest.version, 17)
        try await expectEqual(scene.harness.digest(), straight.harness.digest())
        let key = HistoryKey(realm: try await scene.harness.record().id, generation: 1)
        let histories = try await [scene, straight].asyncMap {
            try await $0.store.history(of: key, after: 0, through: 17, maxBytes: .max)
        }
        expectEqual(histories[0].map(\.entry.changeset), histories[1].map(\.entry.changeset))
        expectEqual(histories[0].map(\.entry.originFile), histories[1].map(\.entry.originFile))
    }

    @Test func aRealmThatABadMessageMadeIsGone() async throws {
        let harness = try await OwnerHarness.make()
        let realm = RealmName(app: OwnerHarness.app, partition: "\"new\"")
        let bad = ChangesetMessage(
            realm: realm, upload: nil, entries: [UploadedChangeset(timestamp: 1, changeset: [0xff])])
        let published = try await harness.send(bad)
        expectEqual(published.dead.count, 1)
        try await expectTrue(harness.store.realm(realm) == nil)
        let good = ChangesetMessage(
            realm: realm, upload: nil, entries: [UploadedChangeset(timestamp: 1, changeset: Changes.schema())])
        try await expectEqual(harness.send(good).one(IntegratedNotice.self).latest.version, 1)
    }

    /// A restart commits while the message that needs it is in hand: what tells its repetition must not be among that.
    @Test func anEventThatRestartsItsRealmCountsOnceWhicheverCommitFails() async throws {
        var latest: Set<ServerVersion> = []
        for commits in [nil, 0, 1, 2, 3, 4] as [Int?] {
            let store = CountingStore()
            let harness = try await OwnerHarness.make(on: store)
            let file = try await harness.join(session: 1)
            try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
            try await harness.send(
                TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
            let event = ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [UploadedChangeset(timestamp: 1, changeset: Changes.insertTag(1, "a", at: 0, of: 0))])
            store.commitsLeft.withLock { $0 = commits }
            do {
                try await harness.send(event, id: "e")
            } catch let error as StoreError {
                expectEqual(error.code, .unavailable)
            }
            store.commitsLeft.withLock { $0 = nil }
            try await harness.send(event, id: "e")
            try await expectEqual(harness.record().generation, 2)
            latest.insert(try await harness.record().latest.version)
        }
        expectEqual(latest.count, 1)
    }

    @Test func aBatchIsReadAheadInTheSameNumberOfCallsHoweverManyMessagesItHas() async throws {
        var calls: [Int] = []
        for count in [2, 30] as [UInt64] {
            let store = CountingStore()
            let before = try await OwnerHarness.make(on: store)
            var requests: [AMQPMessage] = []
            for session in 1...count {
                let file = try await before.join(session: session)
                requests.append(try AMQPMessage(before.identifyRequest(file, session: 100 + session)))
            }
            let harness = try await OwnerHarness.make(on: store)
            store.lookups.withLock { $0 = 0 }
            try await expectEqual(harness.send(requests).every(IdentifiedAnswer.self).count, Int(count))
            calls.append(store.lookups.withLock { $0 })
        }
        expectEqual(calls, [2, 2])
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
