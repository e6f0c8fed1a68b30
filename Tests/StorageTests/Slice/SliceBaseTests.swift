import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

@Suite(.hangGuard) struct SliceBaseTests {
    private let key = HistoryKey(realm: RealmID(1), generation: 1)

    private func base(_ version: ServerVersion, generation: UInt64 = 1, isComplete: Bool = true) -> BaseRecord {
        BaseRecord(
            realm: RealmID(1), generation: generation, version: version, entries: 2, bytes: 6, historyBytes: 30,
            isComplete: isComplete, createdAt: 77)
    }

    private func commit(_ store: any SliceStore, _ epoch: Epoch, _ change: (inout SliceBatch) -> Void) async throws {
        var batch = SliceBatch()
        change(&batch)
        expectTrue(!batch.isEmpty)
        try await store.commit(batch, epoch: epoch)
    }

    @Test(arguments: SliceVariant.allCases)
    func aBaseStandsBesideTheHistory(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let base = base(9)
            try await commit(store, epoch) {
                $0.realms = [Sample.realm(latest: 9)]
                $0.history = [key: (1...9).map { Sample.entry($0) }]
                $0.history[base.historyKey] = [1, 2].map { Sample.entry($0, [7]) }
                $0.historyDigests = [HistoryDigest(key: base.historyKey, after: 0, through: 2, body: [1])]
                $0.bases = [base, self.base(4, generation: 2), self.base(8, isComplete: false)]
            }
            try await expectEqual(store.bases(of: RealmID(1)).map(\.version), [4, 8, 9])
            try await expectEqual(store.newestBase(of: RealmID(1), generation: 1), base)
            try await expectTrue(store.newestBase(of: RealmID(1), generation: 3) == nil)
            try await expectEqual(store.bases(of: RealmID(1)).last, base)
            try await expectEqual(store.history(of: key, after: 0, through: 99, maxBytes: .max).count, 9)
            let entries = try await store.history(of: base.historyKey, after: 0, through: 99, maxBytes: .max)
            expectEqual(entries.map(\.entry.changeset), [[7], [7]])
            try await expectTrue(store.historyDigests(of: key, after: 0, maxBytes: .max).isEmpty)
            try await expectEqual(store.historyDigests(of: base.historyKey, after: 0, maxBytes: .max).count, 1)

            try await commit(store, epoch) {
                $0.historyTrims = [base.historyKey: 99]
                $0.baseRemovals = [base]
            }
            try await expectEqual(store.bases(of: RealmID(1)).map(\.version), [4, 8])
            try await expectEqual(store.history(of: key, after: 0, through: 99, maxBytes: .max).count, 9)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aCompactedHistoryBeginsLaterWhateverAnOlderHeadingSays(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var realm = Sample.realm(latest: 9)
            try await commit(store, epoch) {
                $0.realms = [realm]
                $0.history = [key: (1...9).map { Sample.entry($0) }]
            }
            try await commit(store, epoch) { $0.compactions = [key: 4] }
            try await expectEqual(store.realm(realm.name)?.historyBase, 4)
            try await expectEqual(
                store.history(of: key, after: 0, through: 99, maxBytes: .max).map(\.version), [5, 6, 7, 8, 9])
            try await commit(store, epoch) { $0.realms = [realm] }
            try await expectEqual(store.realm(realm.name)?.historyBase, 4)
            // A new generation's history begins anew.
            realm.generation = 2
            try await commit(store, epoch) { $0.realms = [realm] }
            try await expectEqual(store.realm(realm.name)?.historyBase, 0)
            try await commit(store, epoch) { $0.compactions = [key: 7] }
            try await expectEqual(store.realm(realm.name)?.historyBase, 0)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aStretchIsBoundedByVersionsAndBytes(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await commit(store, epoch) {
                $0.history = [key: (1...9).map { Sample.entry($0) }]
            }
            func stretch(after: ServerVersion, through: ServerVersion, versions: Int, bytes: UInt64) async throws
                -> ServerVersion?
            {
                try await store.historyStretch(
                    of: key, after: after, through: through, maxVersions: versions, maxBytes: bytes)
            }
            try await expectEqual(stretch(after: 0, through: 99, versions: 4, bytes: .max), 4)
            try await expectEqual(stretch(after: 0, through: 3, versions: 4, bytes: .max), 3)
            try await expectEqual(stretch(after: 2, through: 99, versions: 40, bytes: 1), 4)
            try await expectEqual(stretch(after: 2, through: 99, versions: 40, bytes: 0), 3)
            try await expectTrue(stretch(after: 9, through: 99, versions: 40, bytes: .max) == nil)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func neededHistoryIsTheLowestBaseOfLiveFiles(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            func file(
                _ ident: FileIdent, start: ServerVersion?, uploaded: ServerVersion,
                _ state: ClientFileRecord.State = .live,
                generation: UInt64 = 1
            ) -> ClientFileRecord {
                var file = Sample.file(ident, generation: generation)
                file.historyStart = start
                file.upload.serverVersion = uploaded
                file.state = state
                return file
            }
            func needed() async throws -> ServerVersion? {
                try await store.neededHistory(of: RealmID(1), generation: 1)
            }
            try await commit(store, epoch) {
                $0.realms = [Sample.realm()]
                $0.clientFiles = [
                    file(2, start: nil, uploaded: 0), file(3, start: 0, uploaded: 1, .expired),
                    file(4, start: 0, uploaded: 1, generation: 2),
                ]
            }
            try await expectTrue(needed() == nil)
            let other = file(5, start: 0, uploaded: 30)
            try await commit(store, epoch) { $0.clientFiles = [other, file(6, start: 20, uploaded: 3)] }
            try await expectEqual(needed(), 20)
            try await expectTrue(store.isNeeded(base(20)))
            try await expectTrue(!store.isNeeded(base(21)))
            try await expectEqual(store.clientFile(other.key), other)
            try await commit(store, epoch) { $0.clientFiles = [file(6, start: 20, uploaded: 25)] }
            try await expectEqual(needed(), 25)
            try await expectTrue(!store.isNeeded(base(20)))
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aSnapshotStaysAsItWas(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            let row = ObjectRow(table: 1, key: .int(1))
            try await commit(store, epoch) {
                $0.realms = [Sample.realm(latest: 3)]
                $0.objects = [RealmID(1): [row: [1]]]
            }
            try await store.withSnapshot { snapshot in
                try await commit(store, epoch) {
                    $0.realms = [Sample.realm(latest: 4)]
                    $0.objectRemovals = [RealmID(1): [row]]
                }
                try await expectEqual(snapshot.realm(Sample.realm().name)?.latest.version, 3)
                try await expectEqual(snapshot.objects(in: RealmID(1), at: [row]), [row: [1]])
            }
            try await expectTrue(store.objects(in: RealmID(1), at: [row]).isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases.filter(\.keepsDeletedSpace))
    func spaceIsReturnedInSteps(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await expectEqual(store.returnSpace(maxBytes: 1 << 20, epoch: epoch), 0)
            for version in 1...16 as ClosedRange<ServerVersion> {
                try await commit(store, epoch) {
                    $0.history = [key: [Sample.entry(version, [UInt8](repeating: 5, count: 1 << 20))]]
                }
            }
            try await commit(store, epoch) { $0.historyTrims = [key: 99] }
            var steps = 0
            var total = 0
            while case let bytes = try await store.returnSpace(maxBytes: 4 << 20, epoch: epoch), bytes > 0 {
                expectTrue(bytes <= 4 << 20)
                total += bytes
                steps += 1
            }
            expectTrue(steps >= 3 && total > 12 << 20)
            await #expect(throws: StoreError.self) {
                try await commit(store, epoch) {
                    $0.history = [key: [Sample.entry(1, [UInt8](repeating: 5, count: 8 << 20))]]
                }
                try await commit(store, epoch) { $0.historyTrims = [key: 99] }
                _ = try await store.take("another")
                _ = try await store.returnSpace(maxBytes: 4 << 20, epoch: epoch)
            }
        }
    }
}
