package import AMQP
import Changesets
package import Logging
package import Messages
import RealmState
package import Storage
package import SyncModel

/// The owner of one slice under one epoch: takes messages in batches, changes the slice in one commit each, and says what
/// is to be published then.
///
/// Batches are given to it one after the other. It runs on a queue of its own.
package actor SliceOwner {
    private nonisolated let executor: SliceExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package nonisolated let slice: SliceNumber
    package nonisolated let epoch: Epoch
    let store: any SliceStore
    let apps: AppSettings
    let topology: Topology
    /// Of the cluster; nil for an owner that is used alone.
    let slices: SliceCount?
    let limits: WorkerLimits
    let clock: WorkerClock
    let metrics: WorkerMetrics
    let logger: Logger

    var requestAges = RequestAges()
    /// The coordinator's time at its last tick.
    var tickedAt: UInt64 = 0
    var realms = RealmCache()
    var nextRealm: RealmID?
    var generations: [String: AppGenerationRecord] = [:]
    var paces = ResetPaces()
    var cases = ResetCases()

    /// What the next commit writes beside the realms that were touched, and what is published after it.
    var pending = SliceBatch()
    var seenPending: Set<String> = []
    var touched: [RealmContext] = []
    var compaction = CompactionState()
    var outbox = Outbox()
    private var quiet = QuietRealms()
    /// Apps as they were found since the last commit.
    private var appsInHand: [String: AppRecord] = [:]
    private var answers: [Publication] = []
    private var published: [Publication] = []
    /// A commit is under way, or has failed.
    private(set) var isCommitting = false

    package init(
        store: any SliceStore, epoch: Epoch, apps: AppDirectory, topology: Topology,
        slices: SliceCount? = nil, limits: WorkerLimits = WorkerLimits(),
        clock: WorkerClock = .system, metrics: WorkerMetrics = WorkerMetrics(), logger: Logger
    ) {
        slice = store.slice
        executor = SliceExecutor(label: "sluice.worker.slice.\(store.slice)")
        self.epoch = epoch
        self.store = store
        self.apps = AppSettings(directory: apps)
        self.topology = topology
        self.slices = slices
        self.limits = limits
        self.clock = clock
        self.metrics = metrics
        var logger = logger
        logger[metadataKey: "slice"] = "\(store.slice)"
        logger[metadataKey: "epoch"] = "\(epoch)"
        self.logger = logger
    }

    deinit { compaction.writer?.cancel() }

    /// Deals with messages in their order. What they change is durable when this returns.
    ///
    /// A message that cannot be dealt with for a reason of ours (what is stored of its realm is damaged, say) is given up,
    /// and the others are dealt with again without it: what they had changed already changes nothing the second time. A store
    /// that cannot be read or written at all is no message's fault.
    ///
    /// - Returns: what to publish before the messages are acknowledged.
    /// - Throws: `StoreError`; then nothing counts that was not committed, and the same messages may be given again.
    package func process(_ messages: [AMQPMessage]) async throws -> [Publication] {
        let deliveries = messages.map(SliceDelivery.init)
        var condemned = Condemned()
        while true {
            var current = 0
            isCommitting = false
            do {
                published = try await leftovers()
                for (index, delivery) in deliveries.enumerated() {
                    current = index
                    if let reason = condemned.reasons[index] {
                        try await giveUp(delivery, reason: reason)
                    } else {
                        try await handle(delivery)
                    }
                }
                current = deliveries.count
                try await flush()
                defer { published = [] }
                quiet.told()
                return published
            } catch {
                forgetEverything()
                guard current < deliveries.count, condemned.reasons[current] == nil, await isOfOneMessage(error) else {
                    throw error
                }
                condemned.add(current, of: deliveries, error)
            }
        }
    }

    /// Whether the message in hand alone cannot go on with the error.
    private func isOfOneMessage(_ error: any Error) async -> Bool {
        switch error {
        case is CancellationError: false
        case let error as StoreError:
            // What a commit writes is of many messages; and damage of what every message needs is of all.
            if error.code == .corrupt, !isCommitting, (try? await store.ownership()) != nil { true } else { false }
        default: true
        }
    }

    /// An app's settings; the same until the next commit.
    func settings(of id: String) async throws -> AppRecord? {
        if let known = appsInHand[id] { return known }
        let found = try await apps.app(id)
        appsInHand[id] = found
        return found
    }

    /// Now, as it is recorded to wait from: not before the coordinator's last tick, so that a clock that was put back
    /// makes nobody look long gone.
    var stamp: UInt64 { max(clock.now(), tickedAt) }

    // MARK: Publishing

    /// Publishes after the commit.
    func publish(_ publication: Publication) { answers.append(publication) }

    // MARK: Committing

    /// The realm is changed or its clients are to be told something with the next commit.
    func touch(_ context: RealmContext) {
        guard !context.isTouched else { return }
        context.isTouched = true
        touched.append(context)
        realms.hold(context)
    }

    /// Commits what is pending and lines up what is to be published.
    func flush() async throws {
        var batch = pending
        let arrived = outbox.arrived
        batch.outboxRemovals = Array(arrived)
        let contexts = touched
        for context in contexts {
            gather(context, into: &batch)
        }
        batch.resetCases += try cases.records()
        if !batch.isEmpty {
            let start = ContinuousClock.now
            try await commit(batch)
            metrics.committed(in: start.duration(to: .now))
            outbox.arrived.subtract(arrived)
        }
        for context in contexts {
            if let notice = try notice(context) {
                published.append(notice)
                quiet.changed(
                    context.name, .init(generation: context.record.generation, latest: context.record.latest))
            }
            context.committed(limits: limits)
            context.batchStart = context.record.latest.version
            context.acknowledged = []
            context.isToldAgain = false
            context.isTouched = false
        }
        published += answers
        clearPending()
        if !contexts.isEmpty { realms.trim(to: limits) }
    }

    func commit(_ batch: SliceBatch) async throws {
        isCommitting = true
        try await store.commit(batch, epoch: epoch)
        isCommitting = false
    }

    private func gather(_ context: RealmContext, into batch: inout SliceBatch) {
        let id = context.record.id
        let changes = context.state.takeChanges()
        if changes.schemaChanged {
            context.record.schema = context.state.schema.encoded()
            context.isDirty = true
        }
        for table in changes.erasedTables {
            batch.tableRemovals[id, default: []].insert(table.rawValue)
        }
        for (table, key) in changes.erased {
            batch.objectRemovals[id, default: []].insert(ObjectRow(table: table.rawValue, key: key))
        }
        for (table, key, object) in changes.upserted {
            batch.objects[id, default: [:]][ObjectRow(table: table.rawValue, key: key)] = object.encoded()
        }
        if context.isDirty { batch.realms.append(context.record) }
        batch.historyDigests += context.digests.take()
        batch.clientFiles += context.dirtyClientFiles
    }

    /// What gateways are told about a realm after the commit.
    private func notice(_ context: RealmContext) throws -> Publication? {
        let latest = context.record.latest
        guard latest.version > context.batchStart || !context.acknowledged.isEmpty || context.isToldAgain else {
            return nil
        }
        let records = context.recent.records(after: context.batchStart, through: latest.version)
        let bytes = records.reduce(0) { $0 + $1.entry.changeset.count + 32 }
        let notice = IntegratedNotice(
            realm: context.name, generation: context.record.generation, follows: context.batchStart, latest: latest,
            entries: bytes > limits.maxNoticeBytes ? [] : records.map(\.entry),
            acknowledgements: context.acknowledged.compactMap { ident in
                context.clientFile(ident).map {
                    IntegratedNotice.Acknowledgement(clientFile: ident, upload: $0.record.upload)
                }
            })
        return Publication(
            .realms(key: context.name.topicKey), try AMQPMessage(notice, persistent: false))
    }

    /// Has gateways told once more where realms stand that have come to rest.
    func tellOfQuietRealms() throws {
        for (name, position) in quiet.tick() {
            let notice = IntegratedNotice(
                realm: name, generation: position.generation, follows: position.latest.version,
                latest: position.latest, entries: [], acknowledgements: [])
            publish(Publication(.realms(key: name.topicKey), try AMQPMessage(notice, persistent: false)))
        }
    }

    private func clearPending() {
        pending = SliceBatch()
        seenPending = []
        touched = []
        appsInHand = [:]
        answers = []
        cases = ResetCases()
    }

    /// Memory may be ahead of the store: everything is read again.
    private func forgetEverything() {
        clearPending()
        published = []
        outbox.forget()
        quiet.dropped()
        realms = RealmCache()
        generations = [:]
        nextRealm = nil
    }
}
