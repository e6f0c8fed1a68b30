import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// What the contract of slices says of realms and apps that are taken away.
@Suite(.hangGuard) struct SliceErasureTests {
    private static func erasure(_ realm: RealmRecord, campaign: String? = "c", found: Int = 0) -> ErasureRecord {
        ErasureRecord(
            realm: realm.id, name: realm.name, generation: realm.generation, version: realm.latest.version,
            nextIdent: realm.nextIdent, campaign: campaign, at: 50, found: found)
    }

    /// Two realms with rows in every table.
    private func filled(_ store: any SliceStore) async throws -> Epoch {
        let epoch = try await store.take()
        var batch = SliceBatch()
        batch.terminations = [AppGenerationRecord(app: "tasks", generation: 1, campaign: nil, at: 1)]
        for number in 1...2 as ClosedRange<Int64> {
            let realm = Sample.realm(number, latest: 9)
            batch.realms.append(realm)
            for row in 0..<40 {
                batch.objects[realm.id, default: [:]][ObjectRow(table: UInt32(row % 3), key: .int(Int64(row)))] = [
                    1, 2,
                ]
            }
            batch.indexEntries[realm.id] = Set(
                (0..<40).map {
                    IndexEntry(row: ObjectRow(table: 0, key: .int(Int64($0))), column: 1, value: [UInt8($0)])
                })
            let key = HistoryKey(realm: realm.id, generation: 1)
            batch.history[key] = (1...9).map { Sample.entry(ServerVersion(UInt64($0))) }
            batch.historyDigests.append(HistoryDigest(key: key, after: 0, through: 9, body: [1]))
            let base = BaseRecord(
                realm: realm.id, generation: 1, version: 5, entries: 1, historyBytes: 1, isComplete: true, createdAt: 1)
            batch.bases.append(base)
            batch.history[base.historyKey] = [Sample.entry(1)]
            for ident in (2..<12 as Range<UInt64>).map({ FileIdent($0) }) {
                let file = Sample.file(ident, realm: number)
                batch.clientFiles.append(file)
                batch.reciprocals[file.key] = [3: [7]]
                batch.resetCases.append(
                    ResetCaseRecord(
                        realm: realm.id, identOld: ident, user: "u", isOpen: true, dueAt: 1, body: [1]))
            }
        }
        batch.resetHolds["tasks"] = ResetHoldRecord(app: "tasks", heldSince: 1, asked: 1, clientFiles: 1)
        try await store.commit(batch, epoch: epoch)
        return epoch
    }

    /// Whether nothing at all is stored of a realm's content.
    private func isEmpty(_ realm: RealmID, in store: any SliceStore) async throws -> Bool {
        let key = HistoryKey(realm: realm, generation: 1)
        let file = ClientFileKey(realm: realm, ident: 11)
        guard try await store.objects(in: realm, after: nil, maxBytes: 1).isEmpty,
            try await store.indexEntries(in: realm, after: nil, limit: 1).isEmpty,
            try await store.history(of: key, after: 0, through: 99, maxBytes: 1).isEmpty,
            try await store.historyDigests(of: key, after: 0, maxBytes: 1).isEmpty,
            try await store.bases(of: realm).isEmpty,
            try await store.history(
                of: HistoryKey(realm: realm, generation: 1, base: 5), after: 0, through: 9, maxBytes: 1
            ).isEmpty
        else { return false }
        let files = try await store.clientFiles(in: realm, state: nil, after: 0, limit: 1)
        let reciprocals = try await store.reciprocals(of: file, after: 0, maxBytes: 99)
        let resetCase = try await store.resetCase(file)
        return files.isEmpty && resetCase == nil && reciprocals?.isEmpty == true
    }

    @Test(arguments: SliceVariant.allCases)
    func anErasedRealmHasNoNameAndItsNumberIsNotGivenOutAgain(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            let realm = Sample.realm(2, latest: 9)
            let record = Self.erasure(realm, found: 10)
            var batch = SliceBatch()
            batch.erasures = [record]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.realm(realm.name) == nil)
            try await expectEqual(store.nextRealmID(), RealmID(3))
            try await expectEqual(store.erasures(of: realm.name), [record])
            try await expectEqual(store.unsweptErasures(limit: 9), [record])
            try await expectEqual(store.erasures(since: 50, limit: 9), [record])
            try await expectTrue(store.erasures(since: 51, limit: 9).isEmpty)
            // A realm of the same name may come at once, and be erased as well.
            var other = Sample.realm(3)
            other = RealmRecord(id: other.id, name: realm.name, generation: 1, salt: 1, saltEpoch: epoch)
            batch = SliceBatch()
            batch.realms = [other]
            try await store.commit(batch, epoch: epoch)
            batch = SliceBatch()
            batch.erasures = [Self.erasure(other)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.erasures(of: realm.name).map(\.realm), [RealmID(3), RealmID(2)])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func sweepingGoesInStepsAndLeavesOthersAlone(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var record = Self.erasure(Sample.realm(1, latest: 9))
            var batch = SliceBatch()
            batch.erasures = [record]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.countClientFiles(in: RealmID(1)), 10)
            var steps = 1
            while try await !store.sweep(RealmID(1), maxRows: 7, maxBytes: 1 << 20, epoch: epoch) { steps += 1 }
            // 40 objects and 10 versions alone take eight steps of seven rows.
            expectTrue(steps >= 8)
            try await expectTrue(isEmpty(RealmID(1), in: store))
            try await expectTrue(store.sweep(RealmID(1), maxRows: 7, maxBytes: 1, epoch: epoch))
            try await expectEqual(store.objects(in: RealmID(2), after: nil, maxBytes: .max).count, 40)
            try await expectEqual(store.clientFiles(in: RealmID(2), state: nil, after: 0, limit: 99).count, 10)
            record.isSwept = true
            batch.erasures = [record]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.unsweptErasures(limit: 1).isEmpty)
            batch = SliceBatch()
            batch.erasureRemovals = [record.realm]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.erasures(of: record.name).isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aSweepIsBoundedByBytesAndFenced(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            // One row at least, however large it is.
            try await expectTrue(!store.sweep(RealmID(1), maxRows: 1_000, maxBytes: 1, epoch: epoch))
            try await expectEqual(store.objects(in: RealmID(1), after: nil, maxBytes: .max).count, 39)
            _ = try await store.take("other")
            await #expect(throws: StoreError.self) {
                _ = try await store.sweep(RealmID(1), maxRows: 1, maxBytes: 1, epoch: epoch)
            }
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func clientFilesGoWithWhatBelongsToThem(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            let file = ClientFileKey(realm: RealmID(1), ident: 11)
            var batch = SliceBatch()
            batch.clientFileRemovals = [file]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.clientFile(file) == nil)
            try await expectTrue(store.resetCase(file) == nil)
            try await expectEqual(store.reciprocals(of: file, after: 0, maxBytes: 99)?.isEmpty, true)
            try await expectEqual(store.countClientFiles(in: RealmID(1)), 9)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func anAppGoesWithGenerationsAndHolds(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var batch = SliceBatch()
            batch.appErasures = [AppErasureRecord(app: "tasks", realms: 1)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.appErasures(), batch.appErasures)
            try await expectEqual(store.realms(ofApp: "tasks", limit: 1).count, 1)
            try await expectEqual(store.countRealms(ofApp: "tasks"), 2)
            try await expectEqual(store.countRealms(ofApp: "task"), 0)
            batch = SliceBatch()
            batch.appRemovals = ["tasks"]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.appErasures().isEmpty)
            try await expectTrue(store.appGenerations().isEmpty)
            try await expectTrue(store.resetHolds().isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func theReasonOfAnErasureStays(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var batch = SliceBatch()
            batch.reasons = ["c": "moved away", "gone": "over"]
            batch.erasures = [Self.erasure(Sample.realm(1))]
            try await store.commit(batch, epoch: epoch)
            batch = SliceBatch()
            batch.reasons = ["other": "other"]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reason(campaign: "c"), "moved away")
            try await expectTrue(store.reason(campaign: "gone") == nil)
        }
    }
}
