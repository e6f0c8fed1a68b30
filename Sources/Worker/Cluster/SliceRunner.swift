import AMQP
import Logging
import Messages
import Storage
import SyncModel

/// Consumes one slice's queue as long as this worker is meant to, takes the slice at the first delivery, and lets it go in
/// good order.
actor SliceRunner {
    struct Dependencies: Sendable {
        var configuration: WorkerConfiguration
        var consuming: AMQPConnection
        var publisher: WorkerPublisher
        var spool: AMQPSpool
        var merges: AsidePool
        var looks: AsidePool
        var apps: AppDirectory
        var clock: WorkerClock
        var metrics: WorkerMetrics
        var logger: Logger
    }

    let slice: SliceNumber
    private let store: any SliceStore
    private let with: Dependencies
    private let logger: Logger

    private var isWanted = false
    private var isStopping = false
    /// The consumer is cancelled: what it holds is finished, then the slice is released.
    private var isLeaving = false
    private var consumer: AMQPConsumer?
    private var owner: SliceOwner?
    private var generation = 0
    /// The uptime at which the slice was taken, or its lease last renewed.
    private var renewedAt: UInt64 = 0
    private var wakeUp: CheckedContinuation<Void, Never>?
    /// Nil while the slice's queue is consumed and what came from it was dealt with.
    private(set) var trouble: SliceTrouble?
    private var pause = QueuePause()
    /// The sleep before the next attempt, which ends early when the worker stops.
    private var pausing: Task<Void, any Error>?
    private var progress = SliceProgress()
    /// The connection on which the broker has taken the slice's last changes at the first attempt.
    private var trusted: AMQPConnectionState?

    init(store: any SliceStore, with dependencies: Dependencies) {
        slice = store.slice
        self.store = store
        with = dependencies
        var logger = dependencies.logger
        logger[metadataKey: "slice"] = "\(store.slice)"
        self.logger = logger
    }

    var epoch: Epoch? { owner?.epoch }
    var isConsuming: Bool { consumer != nil }
    /// The apps whose clients must wait until an operator lets them reset.
    var heldResets: [ResetHoldRecord] { owner?.heldResets ?? [] }
    /// The realms and apps that the slice is busy with; nil if with none, or if it is not owned.
    var activity: SliceActivity? { owner?.activity(at: with.clock.uptime()) }
    /// Deliveries that the broker has given and that are not acknowledged yet.
    var unacknowledged: Int { progress.inHand + (consumer?.bufferedCount ?? 0) }
    var handled: Int { progress.handled }

    /// Says that messages are in hand and that none was dealt with for long, whatever the reason: a store or a merge that takes for
    /// ever fails with no error.
    var standstill: SliceTrouble? {
        let stood = isStopping ? 0 : progress.standing(at: with.clock.uptime())
        guard stood > with.configuration.limits.maxStandstill.milliseconds else { return nil }
        return SliceTrouble(
            .operation,
            "\(unacknowledged.counted("message is", "messages are")) in hand and none was dealt with for \(stood / 1000) s; the slice's store, or what one"
                + " message asks for, takes too long")
    }

    /// Whether messages are in hand and none was dealt with for so long.
    func isHeldUp(for time: Duration) -> Bool {
        !isStopping && progress.standing(at: with.clock.uptime()) > time.milliseconds
    }

    /// How far it is behind, and its rate since this was last asked.
    func lag() -> SliceLag { progress.lag() }

    // MARK: What is wanted

    /// Says whether to consume, and whether to let the slice go although it is consumed.
    func want(_ wanted: Bool, handOver: Bool) async {
        isWanted = wanted && !isStopping
        if isWanted {
            wake()
            if handOver, owner != nil { await leave() }
        } else {
            await leave()
        }
    }

    /// Finishes what is in hand and lets the slice go for good.
    func stop() async {
        isStopping = true
        isWanted = false
        wake()
        await leave()
    }

    /// Forgets the slice without letting it go.
    func abandon() {
        isStopping = true
        isWanted = false
        owner = nil
        wake()
    }

    private func leave() async {
        guard let consumer, !isLeaving else { return }
        isLeaving = true
        try? await consumer.cancel()
    }

    private func wake() {
        wakeUp?.resume()
        wakeUp = nil
        if isStopping { pausing?.cancel() }
    }

    private func sleep(for pause: Duration) async {
        guard !isStopping else { return }
        let sleep = Task { try await Task.sleep(for: pause) }
        pausing = sleep
        await withTaskCancellationHandler {
            _ = try? await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        pausing = nil
    }

    // MARK: Running

    func run() async {
        while !isStopping, !Task.isCancelled {
            guard isWanted else {
                // What ails a slice that others serve is theirs to say.
                trouble = nil
                await withTaskCancellationHandler {
                    await withCheckedContinuation { continuation in
                        if isWanted || isStopping || Task.isCancelled {
                            continuation.resume()
                        } else {
                            wakeUp = continuation
                        }
                    }
                } onCancel: {
                    // Nobody else can wake it then.
                    Task { await self.wake() }
                }
                continue
            }
            do {
                try await consume()
                trouble = nil
            } catch {
                let next = pause.failed(
                    error, queue: with.configuration.topology.slice(slice), jitter: .random(in: 0...1))
                await drop(error, advice: next.advice)
                await sleep(for: next.pause)
            }
        }
    }

    private func consume() async throws {
        let configuration = with.configuration
        let channel = try await with.consuming.openChannel(prefetch: configuration.prefetch)
        let consumer = try await channel.consume(queue: configuration.topology.slice(slice), spool: with.spool)
        isLeaving = false
        self.consumer = consumer
        do {
            try await announce()
            // A stand-by hears nothing from its queue that would tell that all is well again.
            trouble = nil
            pause.consumed()
            if !isWanted { await leave() }
            var waiting = HeldDeliveries()
            while true {
                try await goOnWithJobs(of: consumer, isIdle: waiting.isEmpty)
                let mayTake = consumer.bufferedCount > 0 && waiting.bytes < configuration.limits.maxWaitingBytes
                if waiting.isEmpty || mayTake {
                    guard
                        let batch = try await consumer.nextBatch(
                            max: configuration.prefetch, maxBytes: configuration.limits.maxBatchBytes)
                    else { break }
                    try await take(batch, into: &waiting)
                }
                try await deal(with: &waiting, of: consumer)
                // The messages whose turn has not come yet are for the next owner to go on with.
                if isLeaving, !waiting.isEmpty { break }
            }
            await release()
            if !waiting.isEmpty { givesBack(unacknowledged) }
        } catch {
            givesBack(unacknowledged)
            self.consumer = nil
            await channel.close()
            throw error
        }
        self.consumer = nil
        await channel.close()
    }

    /// The broker takes back what is not acknowledged when the channel closes, and delivers it again.
    private func givesBack(_ deliveries: Int) {
        progress.giveBack()
        guard deliveries > 0 else { return }
        with.metrics.returned(deliveries)
        logger.info("deliveries go back to the queue", metadata: ["deliveries": "\(deliveries)"])
    }

    /// The claim is the delivery by which whoever is active learns that it is.
    private func announce() async throws {
        let message = try AMQPMessage(ClaimMessage(worker: with.configuration.id))
        try await with.publisher.channel.publish(
            message, exchange: with.configuration.topology.slices, routingKey: String(slice.value))
    }

    /// Takes deliveries in hand.
    private func take(_ batch: [AMQPDelivery], into waiting: inout HeldDeliveries) async throws {
        guard let last = batch.last else { return }
        // Over a new connection another worker may have been active in between, and what came over the old one comes again.
        if last.generation != generation {
            owner = nil
            waiting.removeAll()
        }
        generation = last.generation
        progress.take(
            batch.count, waiting: waiting.count, sentAt: batch.compactMap(\.message.properties.timestamp),
            at: with.clock.uptime())
        let owner = try await owned(holding: last)
        waiting.add(batch, await owner.read(batch.map(\.message)))
    }

    /// Deals with one batch of the waiting messages: with those whose turn it is.
    private func deal(with waiting: inout HeldDeliveries, of consumer: AMQPConsumer) async throws {
        guard let last = waiting.last else { return }
        if case .connected(let generation) = with.consuming.state, generation != last.generation {
            // The waiting messages come again, to whichever worker is active now.
            waiting.removeAll()
            progress.giveBack()
            return
        }
        let owner = try await owned(holding: last)
        let start = ContinuousClock.now
        let (contents, bytes) = (waiting.contents, waiting.bytes)
        let isCrowded =
            bytes > with.configuration.limits.maxWaitingBytes / 2 || waiting.count > with.configuration.prefetch / 2
        let batch = try await patiently(holding: last) { try await owner.deal(with: contents, isCrowded: isCrowded) }
        guard !batch.isIdle else {
            guard await !owner.hasJobs else { return }
            return await consumer.rest(isFull: bytes >= with.configuration.limits.maxWaitingBytes)
        }
        try await publish(batch.publications)
        await owner.arrived(batch.publications)
        let done = try await waiting.acknowledge(butFor: batch.left, of: consumer)
        progress.deal(with: done.count, left: waiting.count, sentAt: waiting.sentAt, at: with.clock.uptime())
        trouble = nil
        with.metrics.redelivered(done.count(where: \.redelivered))
        let duration = start.duration(to: .now)
        if !done.isEmpty { with.metrics.batch(of: done.count, in: duration) }
        // A tenth of the time for what a tick has left to drop: under load more comes in than ticks alone could drop.
        // What ails the store shows with the next batch.
        try? await owner.compactFurther(for: duration / 10)
    }

    /// How long a slice goes on with its jobs before it looks for messages again: one that has some, and an idle one.
    private static let busyJobTime = Duration.milliseconds(20)
    private static let idleJobTime = Duration.milliseconds(50)

    /// Goes on with the slice's jobs: as long as there are no messages, else for a moment. What ails the store shows
    /// with the next batch.
    private func goOnWithJobs(of consumer: AMQPConsumer, isIdle: Bool) async throws {
        while let owner, !isLeaving, !isStopping, await owner.hasJobs {
            guard let made = try? await owner.goOnWithJobs(for: isIdle ? Self.idleJobTime : Self.busyJobTime) else {
                return
            }
            try await publish(made)
            await owner.arrived(made)
            guard isIdle, consumer.bufferedCount == 0 else { return }
        }
    }

    private func publish(_ publications: [Publication]) async throws {
        guard publications.contains(where: \.isChange) else {
            try await with.publisher.publish(publications, stuck: { await self.isStuck($0) })
            return
        }
        let connection = with.publisher.channel.connection.state
        let isCareful = trusted != connection
        trusted = nil
        if try await with.publisher.publish(publications, isCareful: isCareful, stuck: { await self.isStuck($0) }) {
            trusted = connection
        }
    }

    /// - Returns: whether to give up: what is not acknowledged is done again by the next owner.
    private func isStuck(_ reason: String) -> Bool {
        trouble = SliceTrouble(.broker, reason)
        return isStopping
    }

    /// Waits for a store that cannot be used, for as long as it takes. What is held stays held meanwhile: given back, each
    /// delivery would count as one that failed, and after twenty of them the broker would dead-letter the whole queue.
    private func patiently<Value: Sendable>(
        holding last: AMQPDelivery, _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 0
        while true {
            do {
                let value = try await body()
                // Whatever else may hold the slice up, such as another owner's lease, the store does not.
                if attempt > 0 { trouble = nil }
                return value
            } catch let error as StoreError where error.code != .fenced && isHeld(last) {
                attempt += 1
                trouble = SliceTrouble(error)
                let level: Logger.Level = attempt % 30 == 1 ? .error : .debug
                logger.log(
                    level: level, "store cannot be used; the slice waits",
                    metadata: ["error": "\(error)", "attempt": "\(attempt)"])
                try await Task.sleep(
                    for: min(with.configuration.limits.maxStorePause, .milliseconds(100 << min(attempt, 6))))
            }
        }
    }

    /// Whether the delivery is still this worker's, and wanted.
    private func isHeld(_ delivery: AMQPDelivery) -> Bool {
        guard !isStopping, !Task.isCancelled else { return false }
        return switch with.consuming.state {
        case .connected(let generation): generation == delivery.generation
        case .blocked: true
        case .connecting, .reconnecting, .closed: false
        }
    }

    // MARK: Ownership

    /// The owner, with a lease that is fresh enough; takes the slice if it is not owned yet.
    private func owned(holding last: AMQPDelivery) async throws -> SliceOwner {
        let lease = with.configuration.leaseDuration.milliseconds
        guard let owner else { return try await acquire(holding: last) }
        let uptime = with.clock.uptime()
        if uptime >= renewedAt &+ lease / 3 {
            try await patiently(holding: last) {
                try await store.renew(epoch: owner.epoch, leaseUntil: with.clock.now() &+ lease)
            }
            renewedAt = uptime
        }
        return owner
    }

    private func acquire(holding last: AMQPDelivery) async throws -> SliceOwner {
        let taking = SliceTaking(
            store: store, configuration: with.configuration, clock: with.clock,
            connection: with.publisher.channel.connection, logger: logger)
        let (epoch, takenAt) = try await taking.take(
            mayGoOn: { !isLeaving && !Task.isCancelled },
            patiently: { try await patiently(holding: last, $0) })
        renewedAt = takenAt
        let taken = SliceOwner(
            store: store, epoch: epoch, apps: with.apps, topology: with.configuration.topology,
            slices: with.configuration.slices, limits: with.configuration.limits, merges: with.merges,
            looks: with.looks,
            clock: with.clock, metrics: with.metrics, logger: with.logger)
        owner = taken
        trusted = nil
        with.metrics.tookSlice()
        logger.info("slice taken", metadata: ["epoch": "\(epoch)"])
        return taken
    }

    /// Lets the slice go if it was served over a connection that is lost: somebody else may be active by now, and would
    /// have to wait for the lease. Whoever turns out to be active takes it again.
    func connected(_ generation: Int) async {
        guard owner != nil, generation != self.generation, progress.inHand == 0 else { return }
        await release()
    }

    /// Forgets the slice if somebody else has it by now.
    func checkOwnership() async {
        guard let epoch = owner?.epoch, let stored = try? await store.ownership() else { return }
        if stored.epoch != epoch, owner?.epoch == epoch {
            owner = nil
            with.metrics.lostSlice()
            logger.warning("slice lost to another worker", metadata: ["owner": "\(stored.owner)"])
        }
    }

    private func release() async {
        guard let owned = owner else { return }
        owner = nil
        // What is not forgotten arrives once more.
        try? await owned.forgetArrived()
        do {
            try await store.release(epoch: owned.epoch, at: with.clock.now())
            logger.info("slice handed over", metadata: ["epoch": "\(owned.epoch)"])
        } catch {
            logger.error("slice not released; its lease has to run out", metadata: ["error": "\(error)"])
        }
    }

    /// Forgets the slice: the messages that were held went back to the queue with the channel.
    private func drop(_ error: any Error, advice: String?) async {
        let lost = (error as? StoreError)?.code == .fenced
        if lost { with.metrics.lostSlice() }
        if !isStopping { trouble = advice.map { SliceTrouble(.broker, $0) } ?? SliceTrouble(error) }
        logger.log(
            level: isStopping ? .debug : .warning, "slice dropped",
            metadata: ["error": "\(advice ?? "\(error)")", "lost": "\(lost)"])
        if lost { owner = nil } else { await release() }
    }
}
