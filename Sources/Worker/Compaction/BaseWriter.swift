import Changesets
import Logging
import Merge
import RealmState
import Storage
import SyncModel

/// Writes a realm's base while its slice goes on: reads the state from a snapshot, page by page, and commits what it has made
/// of each page under the owner's epoch. It rests as long as it works.
///
/// A base counts from its last commit on. One that was interrupted is dropped by the next compaction.
actor BaseWriter {
    private nonisolated let executor: SliceExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: any SliceStore
    private let epoch: Epoch
    private let limits: CompactionLimits
    private let clock: WorkerClock

    init(store: any SliceStore, epoch: Epoch, limits: CompactionLimits, clock: WorkerClock) {
        executor = SliceExecutor(label: "sluice.worker.base.\(store.slice)")
        self.store = store
        self.epoch = epoch
        self.limits = limits
        self.clock = clock
    }

    /// - Returns: nil if the realm has nothing to make a base of.
    func write(_ name: RealmName) async throws -> BaseRecord? {
        try await store.withSnapshot { try await write(name, from: $0) }
    }

    private func write(_ name: RealmName, from snapshot: any SliceContent) async throws -> BaseRecord? {
        guard let record = try await snapshot.realm(name), record.latest.version > 0 else { return nil }
        let key = HistoryKey(realm: record.id, generation: record.generation)
        // The state counts as written when its last version was: what a client wrote offline before that yields to it.
        let timestamp = try await snapshot.historyHeading(of: key, version: record.latest.version)?.entry.timestamp
        var stage = Stage(record: record, timestamp: timestamp ?? clock.changesetNow, createdAt: clock.now())
        try await commit(&stage)

        let schema = record.schema.isEmpty ? Schema() : try Schema(decoding: record.schema)
        var builder = StateChangesets(schema: schema, byteBudget: changesetBytes(for: record))
        if !schema.tables.isEmpty { try stage.append(StateChangesets(schema: schema).schemaChangeset()) }
        var last: ObjectRow?
        while true {
            let start = ContinuousClock.now
            let page = try await snapshot.objects(in: record.id, after: last, maxBytes: limits.pageBytes)
            guard let end = page.last else { break }
            for (row, body) in page {
                guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
                let object = try StoredObject(decoding: body)
                for changeset in builder.append(ObjectAddress(table.name, row.key), object) {
                    try stage.append(changeset)
                }
            }
            last = end.row
            try await commit(&stage)
            try await Task.sleep(for: start.duration(to: .now))
        }
        if let rest = builder.finish() { try stage.append(rest) }
        stage.base.isComplete = true
        try await commit(&stage)
        return stage.base
    }

    /// So many that the base has fewer changesets than the history it stands for, whose versions they take.
    private func changesetBytes(for record: RealmRecord) -> Int {
        let average = record.historyBytes / max(record.latest.version.rawValue, 1)
        return max(limits.changesetBytes, Int(min(average.multipliedReportingOverflow(by: 4).partialValue, 8 << 20)))
    }

    private func commit(_ stage: inout Stage) async throws {
        try Task.checkCancellation()
        try await store.commit(stage.take(), epoch: epoch)
    }

    /// What the next commit writes.
    private struct Stage {
        var base: BaseRecord
        private let salt: VersionSalt
        private let timestamp: SyncTimestamp
        private var digests: DigestWriter
        private var history: [HistoryRecord] = []

        init(record: RealmRecord, timestamp: SyncTimestamp, createdAt: UInt64) {
            base = BaseRecord(
                realm: record.id, generation: record.generation, version: record.latest.version,
                historyBytes: record.historyBytes, createdAt: createdAt)
            salt = record.latest.salt
            self.timestamp = timestamp
            digests = DigestWriter(key: base.historyKey, after: 0)
        }

        mutating func append(_ changeset: Changeset) throws {
            let bytes = changeset.encoded()
            guard !bytes.isEmpty else { return }
            guard base.lastEntry < base.version else {
                throw WorkerError(
                    .tooLarge, "the state at version \(base.version) takes more changesets than there are versions")
            }
            base.entries += 1
            base.bytes += UInt64(bytes.count)
            digests.append(origin: 1, Touches(of: CollectionOfOne(changeset)))
            let entry = HistoryEntry(
                serverVersion: base.lastEntry, clientVersion: 0, originFile: .server, timestamp: timestamp,
                changeset: bytes)
            history.append(HistoryRecord(entry, salt: salt, cumulativeBytes: base.bytes))
        }

        mutating func take() -> SliceBatch {
            var batch = SliceBatch()
            batch.bases = [base]
            batch.history[base.historyKey] = history
            batch.historyDigests = digests.take()
            history = []
            return batch
        }
    }
}
