import Logging
import Operations
import Storage
import SyncModel
import Synchronization

/// How far an owner has come with looking after its realms' histories.
final class CompactionState {
    static let maxDamaged = 1_000
    /// The realm that was looked at last; nil at the beginning of a round.
    var last: RealmID?
    /// Realms with damaged rows: each was told of, and is not looked at again by this owner.
    var damaged: Set<RealmID> = []
    /// Time ran out with something left to drop.
    var isBehind = false
    /// Something may be left to be given back to the file system.
    var isReclaiming = false
    /// The base that is being written beside the batches.
    var writing: BaseWriting?

    // The epoch stops a writer, too, but later.
    deinit { writing?.task.cancel() }

    func finishWriting() async { await writing?.task.value }

    /// Has nothing written of a realm from then on.
    func stopWriting(of realm: RealmID) async {
        guard let writing, writing.realm == realm else { return }
        writing.task.cancel()
        await writing.task.value
    }
}

/// A base on its way.
struct BaseWriting {
    let realm: RealmID
    let task: Task<Void, Never>
    /// Set by the task at its end.
    let isDone: Flag

    final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }
}

/// Compacts histories between messages, with the tick that drives it and, where that was not enough, after the batches that
/// follow: as long at a time as `CompactionLimits` says. Every commit leaves the realm whole.
struct Compaction: SlicePart {
    let work: SliceWork
    private var state: CompactionState { work.memory.compaction }

    /// Looks at the next realms: has bases written, and drops what no client file needs any more.
    ///
    /// Called with nothing pending, so that what the store says of client files is how it is.
    func compact(for time: Duration) async throws {
        let deadline = ContinuousClock.now + time
        let limit = limits.compaction.realmsPerRun
        let records = try await store.realms(after: state.last, limit: limit)
        state.isBehind = false
        for record in records {
            guard try await compactUndamaged(record, until: deadline) else {
                state.isBehind = true
                return
            }
            state.last = record.id
        }
        if records.count < limit { state.last = nil }
    }

    /// Gives room back to the file system, as much as one commit may; the rest is a job (`SliceJob`).
    func reclaim() async throws {
        let bytes = try await store.returnSpace(
            maxBytes: limits.compaction.reclaimedPerStep, epoch: work.environment.epoch)
        state.isReclaiming = bytes > 0
        metrics.reclaimed(bytes)
    }

    /// - Returns: whether there was anything to do.
    func reclaimStep() async throws -> Bool {
        guard state.isReclaiming else { return false }
        try await reclaim()
        return true
    }

    private func compactUndamaged(
        _ record: RealmRecord, until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        guard !state.damaged.contains(record.id) else { return true }
        do {
            return try await compact(record, until: deadline)
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
            if state.damaged.count < CompactionState.maxDamaged { state.damaged.insert(record.id) }
            logger.error(
                "a realm's history is damaged and is not compacted",
                metadata: .about(record.name, ["error": "\(error)"]))
            return true
        }
    }

    /// - Returns: whether it is done with the realm for now.
    private func compact(_ record: RealmRecord, until deadline: ContinuousClock.Instant) async throws -> Bool {
        // A realm of the first generation that is shorter has no bases to drop.
        guard record.latest.version.rawValue >= limits.compaction.minVersions || record.generation > 1 else {
            return true
        }
        // A realm that is behind its app's generation restarts when it is next needed.
        guard try await isCurrent(record) else { return true }
        // Asked first: one that is complete by the time that the bases are read must not be taken for a torso.
        let isWriting = writing?.realm == record.id
        let bases = try await store.bases(of: record.id)
        let newest = bases.last { $0.isComplete && $0.generation == record.generation }
        var kept = 0
        for base in bases {
            if isWriting, !base.isComplete { continue }
            var isNeeded = base == newest
            if !isNeeded, base.isComplete, base.generation == record.generation {
                isNeeded = try await store.isNeeded(base)
            }
            if isNeeded {
                kept += 1
            } else {
                guard try await drop(base, until: deadline) else { return false }
            }
        }
        if kept < limits.compaction.maxBases, isLong(record, after: newest) { startWriting(record) }
        guard let newest else { return true }
        return try await trim(record, to: newest, until: deadline)
    }

    private func isCurrent(_ record: RealmRecord) async throws -> Bool {
        guard let app = try await apps.app(record.name.app) else { return false }
        return try await work.generation(of: app).generation <= record.generation
    }

    private func isLong(_ record: RealmRecord, after newest: BaseRecord?) -> Bool {
        let limits = limits.compaction
        return record.latest.version.rawValue &- (newest?.version.rawValue ?? 0) >= limits.minVersions
            && record.historyBytes &- (newest?.historyBytes ?? 0) >= max(limits.minBytes, newest?.bytes ?? 0)
    }

    // MARK: Writing

    /// One at a time in a slice; the others' turn comes with a later round.
    private func startWriting(_ record: RealmRecord) {
        guard writing == nil else { return }
        let environment = work.environment
        let writer = BaseWriter(
            store: store, epoch: environment.epoch, limits: limits.compaction, clock: clock)
        let (name, logger, metrics) = (record.name, environment.logger, environment.metrics)
        let isDone = BaseWriting.Flag()
        let task = Task {
            defer { isDone.set() }
            do {
                if let base = try await writer.write(name) {
                    metrics.baseWritten(base.bytes, app: name.app)
                    logger.info(
                        "base of a realm's history written",
                        metadata: .about(
                            name,
                            [
                                "version": "\(base.version)",
                                "changesets": "\(base.entries)", "bytes": "\(base.bytes)",
                            ]))
                }
            } catch {
                let isExpected = error is CancellationError || (error as? StoreError)?.code == .fenced
                logger.log(
                    level: isExpected ? .debug : .warning, "base of a realm's history not written",
                    metadata: .about(name, ["error": "\(error)"]))
            }
        }
        state.writing = BaseWriting(realm: record.id, task: task, isDone: isDone)
    }

    /// The base that is still being written.
    private var writing: BaseWriting? { state.writing.flatMap { $0.isDone.isSet ? nil : $0 } }

    // MARK: Dropping

    /// Drops the history before the newest base that no client file needs.
    private func trim(
        _ record: RealmRecord, to newest: BaseRecord, until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        guard record.historyBase + 1 < newest.version else { return true }
        let needed = try await store.neededHistory(of: record.id, generation: record.generation) ?? newest.version
        // A client that has seen nothing after that version still shows its salt.
        let end = min(needed, newest.version)
        guard end > 1 else { return true }
        let key = HistoryKey(realm: record.id, generation: record.generation)
        var from = record.historyBase
        while from < end - 1 {
            guard ContinuousClock.now < deadline else { return false }
            guard let through = try await stretch(of: key, after: from, through: end - 1) else { return true }
            try await compact(record.name, key, through: through)
            metrics.compacted(from.distance(to: through), app: record.name.app)
            from = through
        }
        return true
    }

    private func drop(_ base: BaseRecord, until deadline: ContinuousClock.Instant) async throws -> Bool {
        let everything = ServerVersion(WireIntegerBounds.maximum)
        var base = base
        base.isComplete = false
        while true {
            guard ContinuousClock.now < deadline else { return false }
            let through = try await stretch(of: base.historyKey, after: 0, through: everything)
            var batch = SliceBatch()
            batch.historyTrims = [base.historyKey: through ?? everything]
            if through == nil { batch.baseRemovals = [base] } else { batch.bases = [base] }
            try await work.commit(batch)
            if through == nil { return true }
        }
    }
}

extension SlicePart {
    /// Drops a realm's history up to a version.
    func compact(_ realm: RealmName, _ key: HistoryKey, through version: ServerVersion) async throws {
        var batch = SliceBatch()
        batch.compactions = [key: version]
        try await work.commit(batch)
        if let context = work.memory.realms[realm], context.record.generation == key.generation {
            context.compacted(through: version)
        }
    }

    /// How much of a history one commit drops; nil if there is nothing to drop.
    func stretch(of key: HistoryKey, after: ServerVersion, through: ServerVersion) async throws
        -> ServerVersion?
    {
        try await store.historyStretch(
            of: key, after: after, through: through, maxVersions: limits.compaction.versionsPerStep,
            maxBytes: limits.compaction.bytesPerStep)
    }
}
