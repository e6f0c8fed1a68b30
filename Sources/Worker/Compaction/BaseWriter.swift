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
        var base = BaseRecord(
            realm: record.id, generation: record.generation, version: record.latest.version,
            historyBytes: record.historyBytes, createdAt: clock.now())
        try await commit(SliceBatch(), of: base)

        let schema = record.schema.isEmpty ? Schema() : try Schema(decoding: record.schema)
        let builder = StateChangesets(schema: schema, byteBudget: changesetBytes(for: record))
        var history = StateHistory(
            key: base.historyKey, salt: record.latest.salt, timestamp: timestamp ?? clock.changesetNow)
        var start = ContinuousClock.now
        try await history.write(record, schema, builder, from: snapshot, pageBytes: limits.pageBytes) {
            try await commit($1, of: try base.holding($0))
            try await Task.sleep(for: start.duration(to: .now))
            start = .now
        }
        base = try base.holding(history)
        base.isComplete = true
        try await commit(history.take(), of: base)
        return base
    }

    /// So many that the base has fewer changesets than the history it stands for, whose versions they take.
    private func changesetBytes(for record: RealmRecord) -> Int {
        let average = record.historyBytes / max(record.latest.version.rawValue, 1)
        return max(limits.changesetBytes, Int(min(average.multipliedReportingOverflow(by: 4).partialValue, 8 << 20)))
    }

    private func commit(_ batch: SliceBatch, of base: BaseRecord) async throws {
        try Task.checkCancellation()
        var batch = batch
        batch.bases = [base]
        try await store.commit(batch, epoch: epoch)
    }
}

extension BaseRecord {
    /// The base with as much as was written of it.
    fileprivate func holding(_ history: StateHistory) throws -> BaseRecord {
        guard history.latest <= version else {
            throw WorkerError(
                .tooLarge, "the state at version \(version) takes more changesets than there are versions")
        }
        var base = self
        base.entries = UInt64(history.latest.rawValue)
        base.bytes = history.bytes
        return base
    }
}
