import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// Commits write all of a batch or nothing; and what a key that comes again does.
@Suite(.hangGuard) struct SliceCommitTests {
    private let key = HistoryKey(realm: RealmID(1), generation: 1)
    private let owner = ClientFileKey(realm: RealmID(1), ident: 2)

    private func refusal(_ store: any SliceStore, _ batch: SliceBatch, _ epoch: Epoch) async -> StoreError.Code? {
        await #expect(throws: StoreError.self) { try await store.commit(batch, epoch: epoch) }?.code
    }

    @Test(arguments: SliceVariant.allCases)
    func aBatchThatFailsChangesNothing(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let row = ObjectRow(table: 1, key: .int(1))
            var before = SliceBatch()
            before.realms = [Sample.realm(1)]
            before.clientFiles = [Sample.file(2)]
            before.objects = [RealmID(1): [row: [1]]]
            before.history = [key: [Sample.entry(1), Sample.entry(2)]]
            before.reciprocals = [owner: [1: [1]]]
            before.outbox = [OutboxRecord(id: "a", body: [1])]
            try await store.commit(before, epoch: epoch)

            var batch = SliceBatch()
            batch.terminations = [AppGenerationRecord(app: "tasks", generation: 2, campaign: "c", at: 5)]
            batch.reasons = ["c": "why"]
            batch.historyTrims = [key: 1]
            batch.reciprocalResets = [RealmID(1)]
            batch.realms = [Sample.realm(1, latest: 7), Sample.realm(2)]
            batch.bases = [BaseRecord(realm: RealmID(1), generation: 1, version: 1, historyBytes: 3, createdAt: 1)]
            batch.tableRemovals = [RealmID(1): [1]]
            batch.objects = [RealmID(2): [row: [2]]]
            batch.historyDigests = [HistoryDigest(key: key, after: 0, through: 2, body: [1])]
            batch.clientFiles = [Sample.file(3)]
            batch.resetCases = [
                ResetCaseRecord(realm: RealmID(1), identOld: 2, user: "u", isOpen: true, dueAt: 1, body: [])
            ]
            batch.seenMessages = ["m"]
            batch.outbox = [OutboxRecord(id: "b", body: [1])]
            batch.outboxRemovals = ["a"]
            batch.history = [key: [Sample.entry(3), Sample.entry(2)]]
            await expectEqual(refusal(store, batch, epoch), .alreadyExists)

            try await expectEqual(store.realms(after: nil, limit: 9), before.realms)
            try await expectTrue(store.appGenerations().isEmpty)
            try await expectTrue(store.reason(campaign: "c") == nil)
            try await expectEqual(store.history(of: key, after: 0, through: 9, maxBytes: .max).map(\.version), [1, 2])
            try await expectEqual(store.reciprocals(of: owner, after: 0, maxBytes: .max), [1: [1]])
            try await expectTrue(store.bases(of: RealmID(1)).isEmpty)
            try await expectEqual(store.objects(in: RealmID(1), after: nil, maxBytes: .max).map(\.row), [row])
            try await expectTrue(store.objects(in: RealmID(2), after: nil, maxBytes: .max).isEmpty)
            try await expectTrue(store.historyDigests(of: key, after: 0, maxBytes: .max).isEmpty)
            try await expectEqual(store.clientFiles(in: RealmID(1), state: nil, after: 0, limit: 9), before.clientFiles)
            try await expectTrue(store.dueResetCases(at: 9, limit: 9).isEmpty)
            try await expectTrue(!store.isSeen(messageID: "m"))
            try await expectEqual(store.outbox(after: 0, maxBytes: .max).map(\.record), before.outbox)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aNameHasOneRealm(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1)]
            try await store.commit(batch, epoch: epoch)
            let other = RealmRecord(
                id: RealmID(2), name: Sample.realm(1).name, generation: 1, salt: 1, saltEpoch: epoch)
            batch.realms = [other]
            await expectEqual(refusal(store, batch, epoch), .alreadyExists)
            // A realm keeps its name and its rules for life, whatever a later heading says.
            batch.realms = [
                RealmRecord(
                    id: RealmID(1), name: RealmName(app: "other", partition: "x"), generation: 2, salt: 5,
                    saltEpoch: epoch, compatibility: .convergent)
            ]
            try await store.commit(batch, epoch: epoch)
            let realm = try #require(try await store.realm(Sample.realm(1).name))
            expectTrue(realm.generation == 2 && realm.salt == 5 && realm.compatibility == .stockClients)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func recordsWithTheSameKeyAreKeptOrReplaced(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            func record(_ at: UInt64, generation: UInt64 = 2) -> AppGenerationRecord {
                AppGenerationRecord(app: "tasks", generation: generation, campaign: nil, at: at)
            }
            var batch = SliceBatch()
            // The first one stays of generations, reasons, seen messages and the outbox; the last one of all else.
            batch.terminations = [record(1), record(2), record(3, generation: 1)]
            batch.reasons = ["c": "first"]
            batch.seenMessages = ["m", "m"]
            batch.outbox = [OutboxRecord(id: "a", body: [1]), OutboxRecord(id: "a", body: [2])]
            batch.clientFiles = [Sample.file(2), Sample.file(2, user: "v")]
            batch.reciprocals = [owner: [1: [1]]]
            batch.historyDigests = [
                HistoryDigest(key: key, after: 0, through: 1, body: [1]),
                HistoryDigest(key: key, after: 0, through: 3, body: [2]),
                HistoryDigest(key: key, after: 3, through: 4, body: [3]),
            ]
            try await store.commit(batch, epoch: epoch)
            var second = SliceBatch()
            second.reasons = ["c": "second"]
            second.reciprocals = [owner: [1: [2]]]
            try await store.commit(second, epoch: epoch)
            try await expectEqual(store.appGenerations(), [record(1)])
            try await expectEqual(store.reason(campaign: "c"), "first")
            try await expectEqual(store.outbox(after: 0, maxBytes: .max).map(\.record.body), [[1]])
            try await expectEqual(store.clientFile(owner)?.user, "v")
            try await expectEqual(store.reciprocals(of: owner, at: [1]), [1: [2]])
            try await expectEqual(store.historyDigests(of: key, after: 0, maxBytes: .max).map(\.body), [[2], [3]])
            try await expectEqual(store.historyDigests(of: key, after: 3, maxBytes: .max).map(\.body), [[3]])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func theOwnerIsCheckedForEveryWrite(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            var batch = SliceBatch()
            batch.seenMessages = ["m"]
            await expectEqual(refusal(store, batch, Epoch(1)), .fenced)
            let epoch = try await store.take()
            try await store.renew(epoch: epoch, leaseUntil: 77)
            try await expectEqual(store.ownership()?.leaseUntil, 77)
            try await store.release(epoch: epoch, at: 5)
            await expectEqual(refusal(store, batch, epoch), .fenced)
            let renewal = await #expect(throws: StoreError.self) {
                try await store.renew(epoch: epoch, leaseUntil: 99)
            }
            expectEqual(renewal?.code, .fenced)
            try await expectTrue(!store.isSeen(messageID: "m"))
        }
    }
}
