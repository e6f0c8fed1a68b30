import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// What the contract of slices says of the indexes by which objects of flexible realms are found.
@Suite(.hangGuard) struct SliceIndexTests {
    private static let realm = RealmID(1)

    private static func row(_ key: Int64, table: UInt32 = 1) -> ObjectRow { ObjectRow(table: table, key: .int(key)) }

    private static func entry(_ key: Int64, _ value: [UInt8], table: UInt32 = 1, column: UInt32 = 7) -> IndexEntry {
        IndexEntry(row: row(key, table: table), column: column, value: value)
    }

    private func query(_ ranges: [IndexRange], after: (value: [UInt8], key: ObjectKey)? = nil) -> IndexQuery {
        IndexQuery(realm: Self.realm, table: 1, column: 7, ranges: ranges, after: after)
    }

    private func point(_ value: [UInt8]) -> IndexRange { IndexRange(low: value, high: value) }

    /// Forty objects, ten of each value from 0 to 3; others beside them in another realm, table and column.
    private func filled(_ store: any SliceStore) async throws -> Epoch {
        let epoch = try await store.take()
        var batch = SliceBatch()
        batch.realms = [Sample.realm(1), Sample.realm(2)]
        for key in 0..<40 as Range<Int64> {
            for realm in [1, 2] as [Int64] {
                batch.objects[RealmID(realm), default: [:]][Self.row(key)] = [UInt8(key), 1, 2]
                batch.indexEntries[RealmID(realm), default: []].insert(Self.entry(key, [UInt8(key % 4)]))
            }
            batch.objects[Self.realm]?[Self.row(key, table: 2)] = [9]
            batch.indexEntries[Self.realm]?.insert(Self.entry(key, [1], table: 2))
            batch.indexEntries[Self.realm]?.insert(Self.entry(key, [1], column: 8))
        }
        try await store.commit(batch, epoch: epoch)
        return epoch
    }

    private func keys(_ objects: [IndexedObject]) -> [Int64] {
        objects.compactMap { if case .int(let key) = $0.row.key { key } else { nil } }
    }

    @Test(arguments: SliceVariant.allCases)
    func objectsOfATableAreCountedUpToALimit(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            _ = try await filled(store)
            for (realm, table, limit, count) in [
                (1, 1, 100, 40), (1, 2, 40, 40), (1, 1, 39, 39), (2, 2, 9, 0), (3, 1, 9, 0),
            ]
                as [(Int64, UInt32, Int, Int)]
            {
                try await expectEqual(store.countObjects(in: RealmID(realm), of: table, limit: limit), count)
            }
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func objectsAreFoundByRangesOfValuesInPages(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            _ = try await filled(store)
            let ranges = [point([1]), IndexRange(low: [2, 5], high: [3])]
            let all = try await store.objects(query(ranges), maxBytes: .max)
            expectTrue(Set(keys(all)) == Set((0..<40 as Range<Int64>).filter { $0 % 4 == 1 || $0 % 4 == 3 }))
            expectEqual(all.map(\.value), Array(repeating: [1], count: 10) + Array(repeating: [3], count: 10))
            expectTrue(all.allSatisfy { $0.body.count == 3 && $0.row.table == 1 })
            // Page by page, each object once.
            var found: [IndexedObject] = []
            while case let page = try await store.objects(
                query(ranges, after: found.last.map { ($0.value, $0.row.key) }), maxBytes: 80), !page.isEmpty
            {
                expectTrue(page.count <= 3)
                found += page
            }
            expectEqual(found, all)
            try await expectEqual(store.objects(query(ranges), maxBytes: 1).count, 1)
            try await expectTrue(store.objects(query([]), maxBytes: 1).isEmpty)
            try await expectTrue(store.objects(query([point([1, 0])]), maxBytes: .max).isEmpty)
            try await expectEqual(store.objects(query([IndexRange(low: [], high: [0xFF])]), maxBytes: .max).count, 40)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func manyRangesAreGoneThroughToTheEnd(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            for key in 0..<2_500 as Range<Int64> {
                let value = [UInt8(key / 50), UInt8(key % 50 % 2)]
                batch.objects[Self.realm, default: [:]][Self.row(key)] = [1]
                batch.indexEntries[Self.realm, default: []].insert(Self.entry(key, value))
            }
            try await store.commit(batch, epoch: epoch)
            let ranges = (0..<50 as Range<UInt8>).map { point([$0, 1]) }
            let found = try await store.objects(query(ranges), maxBytes: .max)
            expectTrue(keys(found).count == 1_250 && Set(keys(found)).count == 1_250)
            try await expectEqual(
                store.objects(query([IndexRange(low: [], high: [0xFF])]), maxBytes: .max).count, 2_500)
            try await expectEqual(store.countEntries(query(ranges), limit: 2_000), 1_250)
            try await expectEqual(store.countEntries(query(ranges), limit: 100), 100)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func entriesComeAndGoWithCommits(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var batch = SliceBatch()
            // A value changes; what is there comes again, and what is not goes.
            batch.indexRemovals = [Self.realm: [Self.entry(5, [1]), Self.entry(5, [3])]]
            batch.indexEntries = [Self.realm: [Self.entry(5, [2]), Self.entry(6, [2])]]
            try await store.commit(batch, epoch: epoch)
            expectEqual(keys(try await store.objects(query([point([1])]), maxBytes: .max)).contains(5), false)
            try await expectEqual(store.countEntries(query([point([2])]), limit: 99), 11)
            try await expectEqual(store.countEntries(query([IndexRange(low: [], high: [0xFF])]), limit: 99), 40)
            // An entry that another commit removes and adds is there.
            batch.indexRemovals = [Self.realm: [Self.entry(7, [3])]]
            batch.indexEntries = [Self.realm: [Self.entry(7, [3])]]
            try await store.commit(batch, epoch: epoch)
            expectTrue(keys(try await store.objects(query([point([3])]), maxBytes: .max)).contains(7))
            // A table's objects go with their entries.
            batch = SliceBatch()
            batch.tableRemovals = [Self.realm: [1]]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.countEntries(query([IndexRange(low: [], high: [0xFF])]), limit: 99), 0)
            let rest = try await store.indexEntries(in: Self.realm, after: nil, limit: 999)
            expectTrue(rest.count == 40 && rest.allSatisfy { $0.row.table == 2 })
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func allEntriesAreReadInTheirOrder(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            let long = IndexEntry(
                row: ObjectRow(table: 1, key: .string(ByteString(String(repeating: "k", count: 5_000)))), column: 7,
                value: Array(repeating: 0xF0, count: 256))
            var batch = SliceBatch()
            batch.objects = [Self.realm: [long.row: [1]]]
            batch.indexEntries = [Self.realm: [long]]
            try await store.commit(batch, epoch: epoch)
            var entries: [IndexEntry] = []
            while case let page = try await store.indexEntries(in: Self.realm, after: entries.last, limit: 7),
                !page.isEmpty
            {
                entries += page
            }
            expectTrue(entries.count == 121 && Set(entries).count == 121 && entries.contains(long))
            expectEqual(entries.map(\.row.table), entries.map(\.row.table).sorted())
            let found = try await store.objects(query([point(long.value)]), maxBytes: .max)
            expectEqual(found, [IndexedObject(value: long.value, row: long.row, body: [1])])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aRealmsHeadingSaysWhatIsIndexed(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1)]
            try await store.commit(batch, epoch: epoch)
            batch.realms[0].indexed = [1, 2, 3]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.realm(Sample.realm(1).name)?.indexed, [1, 2, 3])
            try await expectEqual(store.realms(after: nil, limit: 1).first?.indexed, [1, 2, 3])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func oneTablesObjectsAreReadAlone(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            _ = try await filled(store)
            let first = try await store.objects(in: Self.realm, of: 1, after: nil, maxBytes: .max)
            expectTrue(first.count == 40 && first.allSatisfy { $0.row.table == 1 })
            var second: [ObjectRow] = []
            while case let page = try await store.objects(in: Self.realm, of: 2, after: second.last, maxBytes: 50),
                !page.isEmpty
            {
                second += page.map(\.row)
            }
            expectTrue(second.count == 40 && second.allSatisfy { $0.table == 2 })
            try await expectTrue(store.objects(in: Self.realm, of: 3, after: nil, maxBytes: .max).isEmpty)
        }
    }
}
