package import AMQP
package import Logging
package import Messages
package import Storage
package import SyncModel

/// The owner of one slice under one epoch: takes messages in batches, changes the slice in one commit for each batch, and says
/// what is to be published then. Runs on a queue of its own.
package actor SliceOwner {
    private nonisolated let executor: SliceExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package nonisolated let slice: SliceNumber
    package nonisolated let epoch: Epoch
    private let environment: SliceEnvironment
    /// Nil while a batch is gone through: there is nothing then that a second one could see or change.
    private var memory: SliceMemory?

    package init(
        store: any SliceStore, epoch: Epoch, apps: AppDirectory, topology: Topology,
        slices: SliceCount? = nil, limits: WorkerLimits = WorkerLimits(),
        merges: AsidePool = AsidePool(), looks: AsidePool = AsidePool(), clock: WorkerClock = .system,
        metrics: WorkerMetrics = WorkerMetrics(),
        logger: Logger
    ) {
        slice = store.slice
        self.epoch = epoch
        executor = SliceExecutor(label: "sluice.worker.slice.\(store.slice)")
        var logger = logger
        logger[metadataKey: "slice"] = "\(store.slice)"
        logger[metadataKey: "epoch"] = "\(epoch)"
        memory = SliceMemory(limits, merges: merges, looks: looks)
        environment = SliceEnvironment(
            store: store, epoch: epoch, apps: AppSettings(directory: apps), topology: topology, slices: slices,
            limits: limits, held: ResetHolds(), activity: ActivityTally(), clock: clock, metrics: metrics,
            logger: logger)
    }

    /// The apps whose clients must wait until an operator lets them reset.
    package nonisolated var heldResets: [ResetHoldRecord] { environment.held.current }

    /// The realms and apps that the slice is busy with; nil if with none.
    /// - Parameter uptime: in milliseconds.
    nonisolated func activity(at uptime: UInt64) -> SliceActivity? {
        environment.activity.activity(of: slice, at: uptime)
    }

    /// Reads messages for `deal`.
    package func read(_ messages: [AMQPMessage]) -> [SliceDelivery] { messages.map(SliceDelivery.init) }

    /// Deals with those of the waiting messages whose realms and apps may go now (`SliceShares`), in their order, and with the
    /// others not at all. What those change is durable when this returns. A merge or a look that takes long goes on beside the
    /// slice (`SliceAsides`), and its realm's messages wait.
    ///
    /// A message that cannot be dealt with for a reason of ours (what is stored of its realm is damaged, say) is given up alone:
    /// what it has changed is undone, and the others go on. A store that cannot be read or written at all is no message's fault.
    ///
    /// - Parameter isCrowded: whether so many messages are waiting that no more are taken.
    /// - Throws: `StoreError`; then nothing counts that was not committed, and the same messages may be given again.
    ///   `CancellationError`, if the task was cancelled while a merge went on; likewise.
    package func deal(with waiting: [SliceDelivery], isCrowded: Bool = false) async throws -> DealtBatch {
        guard let memory else { throw WorkerError(.busy, "slice \(slice) is already going through a batch") }
        let now = environment.clock.uptime()
        let newer = waiting.count { $0.newer != nil }
        let returnsNewer = newer > 0 && memory.newer.areDue(at: now)
        if newer == waiting.count, newer > 0, !returnsNewer {
            return DealtBatch(left: Array(waiting.indices), isIdle: true)
        }
        let realms = waiting.map(\.realm)
        let names = Set(realms.compactMap(\.self))
        memory.asides.beginBatch(waiting: names)
        let busy = names.filter(memory.asides.isBusy)
        guard
            memory.shares.beginBatch(
                waiting: names.subtracting(busy), hasOthers: realms.contains(nil) || waiting.isEmpty,
                isCrowded: isCrowded, at: now)
        else { return DealtBatch(left: Array(waiting.indices), isIdle: true) }
        var left: [Int] = []
        var cost: UInt64 = 0
        defer { memory.asides.endBatch() }
        let publications = try await withWork { work in
            try await work.publishLeftovers()
            guard !work.hasMoreLeftovers else {
                left = Array(waiting.indices)
                return
            }
            work.mergePatience = environment.limits.mergeStepsInSlice
            work.looksMayWait = true
            try await work.read(ahead: likely(waiting, butFor: busy, memory.shares))
            var handler = MessageHandler(work: work)
            var bytes = 0
            var next = 0
            while next < waiting.count {
                let delivery = waiting[next]
                if delivery.newer != nil {
                    if returnsNewer { work.giveBack(delivery) } else { left.append(next) }
                    next += 1
                    continue
                }
                if let realm = delivery.realm, busy.contains(realm) { memory.shares.leave(realm) }
                guard bytes < environment.limits.maxBatchBytes, memory.shares.mayGo(delivery.realm, app: delivery.app)
                else {
                    left.append(next)
                    next += 1
                    continue
                }
                let together = together(waiting[next...], memory)
                let (before, asideBefore) = (work.cost, work.costAside)
                let changesBefore = work.changeBytes
                let dealt = try await handler.take(together: together)
                bytes += together.prefix(dealt).reduce(0) { $0 + $1.original.body.count }
                bytes += work.changeBytes - changesBefore
                if let realm = delivery.realm {
                    let moved = memory.realms[realm]?.takeCost() ?? 0
                    memory.shares.took(work.cost - before + moved, for: realm)
                    cost += work.cost - before - (work.costAside - asideBefore) + moved
                    if dealt < together.count, !handler.isWaitingForJob { memory.shares.leave(realm) }
                }
                left += next + dealt..<next + together.count
                next += together.count
            }
        }
        if returnsNewer {
            memory.newer.returned(at: now)
            environment.logger.warning(
                "messages of a newer version of Sluice go back to the queue: upgrade this worker",
                metadata: [
                    "slice": "\(slice)", "messages": "\(newer)",
                    "first": "\(waiting.lazy.compactMap(\.newer).first?.description ?? "")",
                ])
        }
        environment.metrics.waited(left.count)
        environment.logger.debug(
            "batch done",
            metadata: [
                "messages": "\(waiting.count - left.count)", "left": "\(left.count)", "cost": "\(cost)",
                "publications": "\(publications.count)",
            ])
        return DealtBatch(
            publications: publications, left: left, cost: cost,
            isIdle: left.count == waiting.count && publications.isEmpty && cost == 0)
    }

    /// Returns the waiting messages that may go in a batch that begins now, if their merges take next to nothing. What is read ahead
    /// for other messages would be read again in each batch that they wait for.
    private func likely(
        _ waiting: [SliceDelivery], butFor busy: Set<RealmName>, _ shares: SliceShares
    ) -> [SliceDelivery] {
        var shares = shares
        var bytes = 0
        return waiting.filter { delivery in
            guard delivery.newer == nil, bytes < environment.limits.maxBatchBytes else { return false }
            if let realm = delivery.realm, busy.contains(realm) { return false }
            guard shares.mayGo(delivery.realm, app: delivery.app) else { return false }
            bytes += delivery.original.body.count
            if let realm = delivery.realm { shares.took(Uploads.leastCost(of: delivery), for: realm) }
            return true
        }
    }

    /// The first message, and if it is an upload those behind it that go on where it ends.
    private func together(_ waiting: ArraySlice<SliceDelivery>, _ memory: SliceMemory) -> [SliceDelivery] {
        guard let first = waiting.first else { return [] }
        var found = [first]
        guard let (message, upload) = first.upload else { return found }
        var bytes = first.original.body.count
        var follows = upload.progress.clientVersion
        // As many as there were when their merge was begun.
        let count = memory.asides.merges.messages(of: message.realm) ?? waiting.count
        for delivery in waiting.prefix(count).dropFirst() {
            bytes += delivery.original.body.count
            guard let (next, head) = delivery.upload, next.realm == message.realm, head.session == upload.session,
                head.clientFile == upload.clientFile, head.generation == upload.generation,
                head.rights == upload.rights, head.follows == follows,
                bytes <= environment.limits.maxTogetherBytes
            else { break }
            follows = head.progress.clientVersion
            found.append(delivery)
        }
        return found
    }

    /// Goes on with what a tick has left to drop of histories; does nothing if it left nothing.
    package func compactFurther(for time: Duration) async throws {
        guard memory?.compaction.isBehind == true else { return }
        _ = try await withWork { work in
            let compaction = Compaction(work: work)
            try await compaction.compact(for: time)
            try await compaction.reclaim()
        }
    }

    /// Whether the owner has jobs.
    package var hasJobs: Bool { memory.map(SliceJobs.arePending) ?? false }

    /// Goes on with the owner's jobs, between messages.
    ///
    /// - Returns: what to publish.
    package func goOnWithJobs(for time: Duration) async throws -> [Publication] {
        guard hasJobs else { return [] }
        return try await withWork { try await SliceJobs(work: $0).go(on: time) }
    }

    /// - Returns: what to publish before the messages are acknowledged.
    func withWork(_ body: (SliceWork) async throws -> Void) async throws -> [Publication] {
        guard let memory else { throw WorkerError(.busy, "slice \(slice) is already going through a batch") }
        self.memory = nil
        defer { self.memory = memory }
        let work = SliceWork(environment, memory)
        do {
            try await TerminationRun(work: work).load()
            try await body(work)
            try await work.flush()
            memory.quiet.told()
            return work.published
        } catch {
            memory.forgetRealms()
            throw (error as? CommitError)?.underlying ?? error
        }
    }

    /// Waits for the base that is being written.
    package func finishWriting() async { await memory?.compaction.finishWriting() }

    // MARK: Outbox

    /// Notes that messages have arrived: the next commit forgets them.
    package func arrived(_ publications: [Publication]) {
        memory?.outbox.arrived.formUnion(publications.compactMap(\.outboxID))
        environment.metrics.told(publications.reduce(0) { $0 + $1.changes })
    }

    /// Forgets in the store what has arrived, before the slice is let go.
    package func forgetArrived() async throws {
        guard let arrived = memory?.outbox.arrived, !arrived.isEmpty else { return }
        var batch = SliceBatch()
        batch.outboxRemovals = Array(arrived)
        try await environment.store.commit(batch, epoch: epoch)
        memory?.outbox.arrived.subtract(arrived)
    }
}
