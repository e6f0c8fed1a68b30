import Changesets
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import StorageSQLite

@Suite(.hangGuard) struct SliceContentTests {
    private let key = HistoryKey(realm: RealmID(1), generation: 1)

    @Test(arguments: SliceVariant.allCases)
    func realmsAreReadBackAsWritten(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await expectEqual(store.nextRealmID(), RealmID(1))
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1), Sample.realm(2, compatibility: .convergent)]
            try await store.commit(batch, epoch: epoch)
            batch.realms = [Sample.realm(2, generation: 4, latest: ServerVersion(.max), compatibility: .convergent)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.realms(after: nil, limit: 9), [Sample.realm(1), batch.realms[0]])
            try await expectEqual(store.realms(after: RealmID(1), limit: 9), batch.realms)
            try await expectEqual(store.nextRealmID(), RealmID(3))
        }
    }

    @Test func realmsOfAnOlderStoreAreForStockClients() async throws {
        try await withControlFolder { folder in
            try SQLiteSliceSchema.makeVersionBeforeCompatibility(
                file: "\(folder)/slice-0.sqlite",
                with: "INSERT INTO realms VALUES (1, 'tasks', 'p', 1, 0, 0, 7, 1, 0, 0, 2, X'')")
            let store = try await SQLiteStores(folder: folder).store(for: SliceNumber(0))
            let realm = try await store.realm(RealmName(app: "tasks", partition: "p"))
            expectTrue(realm?.compatibility == .stockClients && realm?.salt == 7)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func objectsAreFoundByKeyAndStreamedInOrder(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let keys: [ObjectKey] = [
                .null, .int(-5), .int(7), .string("\0x"), .string(ByteString([0xff])),
                .objectID(.init(high: 1, low: 2)),
                .uuid(.init(high: .max, low: 0)), .globalKey(high: 1, low: 2),
            ]
            let rows = [0, 3].flatMap { table in keys.map { ObjectRow(table: UInt32(table), key: $0) } }
            var batch = SliceBatch()
            for (index, row) in rows.enumerated() {
                batch.objects[RealmID(1), default: [:]][row] = [UInt8(index), 1, 2]
            }
            batch.objects[RealmID(2)] = [rows[0]: [99]]
            try await store.commit(batch, epoch: epoch)
            let some = try await store.objects(in: RealmID(1), at: [rows[1], rows[9], ObjectRow(table: 8, key: .null)])
            expectEqual(some, [rows[1]: [1, 1, 2], rows[9]: [9, 1, 2]])
            var streamed: [ObjectRow] = []
            while true {
                let page = try await store.objects(in: RealmID(1), after: streamed.last, maxBytes: 40)
                expectTrue(page.count <= 2)
                guard !page.isEmpty else { break }
                streamed += page.map(\.row)
            }
            expectEqual(streamed.count, rows.count)
            expectEqual(Set(streamed), Set(rows))
            expectEqual(streamed.map(\.table), streamed.map(\.table).sorted())
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func objectsAreReplacedAndRemovedOneByOneAndByTable(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let rows = [
                ObjectRow(table: 0, key: .int(1)), ObjectRow(table: 0, key: .int(2)), ObjectRow(table: 1, key: .int(1)),
            ]
            var batch = SliceBatch()
            batch.objects = [RealmID(1): Dictionary(uniqueKeysWithValues: rows.map { ($0, [1]) })]
            try await store.commit(batch, epoch: epoch)
            batch.objectRemovals = [RealmID(1): [rows[0]]]
            batch.objects = [RealmID(1): [rows[1]: [2]]]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.objects(in: RealmID(1), at: rows), [rows[1]: [2], rows[2]: [1]])
            batch = SliceBatch()
            batch.tableRemovals = [RealmID(1): [0]]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.objects(in: RealmID(1), at: rows), [rows[2]: [1]])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func historyIsReadInRangesOfBoundedSize(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            let entries = (1...10).map { Sample.entry($0, Array(repeating: 7, count: $0 == 4 ? 0 : 100)) }
            batch.history = [key: entries]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.history(of: key, after: 2, through: 5, maxBytes: .max), Array(entries[2..<5]))
            try await expectEqual(store.history(of: key, after: 0, through: 10, maxBytes: 1).map(\.version), [1])
            try await expectEqual(store.history(of: key, after: 0, through: 10, maxBytes: 300).count, 3)
            try await expectTrue(store.history(of: key, after: 10, through: 10, maxBytes: 300).isEmpty)
            let heading = try await store.historyHeading(of: key, version: 5)
            expectEqual(heading?.salt, 9)
            expectEqual(heading?.entry.changeset.isEmpty, true)
            try await expectTrue(store.historyHeading(of: key, version: 11) == nil)
            let other = HistoryKey(realm: RealmID(1), generation: 2)
            try await expectTrue(store.history(of: other, after: 0, through: 10, maxBytes: .max).isEmpty)
            batch = SliceBatch()
            batch.historyTrims = [key: 8]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(
                store.history(of: key, after: 0, through: 99, maxBytes: .max).map(\.version), [9, 10])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aVersionIsNeverWrittenTwiceAndTheBatchFailsWhole(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            batch.history = [key: [Sample.entry(1)]]
            try await store.commit(batch, epoch: epoch)
            batch.realms = [Sample.realm()]
            await #expect(throws: StoreError.self) { try await store.commit(batch, epoch: epoch) }
            try await expectTrue(store.realm(Sample.realm().name) == nil)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func anEmptyReciprocalIsNotAnAbsentOne(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let owner = ClientFileKey(realm: RealmID(1), ident: 2)
            var batch = SliceBatch()
            batch.reciprocals = [
                owner: [3: [], 5: [1]], ClientFileKey(realm: RealmID(1), ident: 3): [4: [2]],
            ]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reciprocals(of: owner, after: 0, maxBytes: .max), [3: [], 5: [1]])
            try await expectEqual(store.reciprocals(of: owner, after: 3, maxBytes: .max), [5: [1]])
            batch = SliceBatch()
            batch.reciprocalTrims = [owner: 4]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reciprocals(of: owner, after: 0, maxBytes: .max), [5: [1]])
            batch = SliceBatch()
            batch.reciprocalResets = [RealmID(1)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reciprocals(of: owner, after: 0, maxBytes: .max)?.isEmpty, true)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func onlyTheLatestMessageIDsAreRemembered(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            batch.seenMessages = (0..<SliceBatch.rememberedMessages + 5).map { "m\($0)" } + ["m7"]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.isSeen(messageID: "m4"), false)
            try await expectTrue(store.isSeen(messageID: "m6"))
            try await expectTrue(store.isSeen(messageID: "m\(SliceBatch.rememberedMessages)"))
        }
    }
}
