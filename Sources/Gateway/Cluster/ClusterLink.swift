import AMQP
import Foundation
import Logging
import Messages
import Operations
import ServiceLifecycle
import Storage
import Synchronization

/// The gateway's line to the cluster: requests to the owners of slices, their answers and notices, uploads, outcomes.
///
/// Two connections, because a broker that is short of memory stops reading from publishers. When either is lost the link
/// is down: requests fail, uploads wait in their sessions; when both are back every session hears of it and asks for
/// what it may have missed. The queue and its bindings are declared again by the AMQP client.
final class ClusterLink: Sendable {
    static let laneCount = 8
    let sessions = SessionDirectory()
    private let configuration: GatewayConfiguration
    private let readiness: Readiness
    private let apps: AppDirectory
    private let clock: GatewayClock
    private let logger: Logger
    private let metrics: GatewayMetrics
    private let requests: RequestTable
    private let bindings: TopicBindings
    private let lanes: [PublishLane]
    private let up = Atomic(false)
    let readinessName = "gateway.broker"

    init(
        configuration: GatewayConfiguration, apps: AppDirectory, readiness: Readiness, clock: GatewayClock,
        metrics: GatewayMetrics, logger: Logger
    ) {
        self.configuration = configuration
        self.readiness = readiness
        self.apps = apps
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        requests = RequestTable(limit: configuration.limits.outstandingRequests)
        let topology = configuration.topology
        bindings = TopicBindings(queue: topology.gateway(configuration.id), exchange: topology.realms)
        lanes = (0..<Self.laneCount).map { _ in PublishLane() }
        readiness.set(readinessName, ready: false, reason: "connecting")
    }

    var isUp: Bool { up.load(ordering: .acquiring) }
    var outstandingRequests: Int { requests.count }

    // MARK: What sessions ask for

    /// Sends a request to the owner of the realm's slice; the answer, or the lack of one, goes to the session.
    func request(_ message: some Message, context: RequestContext) {
        let number = context.session.number
        guard isUp else {
            return sessions.deliver(.requestFailed(GatewayError(.brokerUnavailable, "the broker is away")), to: number)
        }
        let id = UUID().uuidString.lowercased()
        let request = RequestTable.Request(
            app: context.realm.app, session: number, deadline: context.sentAt &+ context.patience,
            startedAt: clock.unixMilliseconds())
        guard requests.add(id, request) else {
            return sessions.deliver(.requestFailed(GatewayError(.overloaded, "too many requests")), to: number)
        }
        // Requests are worth nothing after their deadline: they need not survive a restart of the broker.
        publish(message, id: id, correlationID: id, replyTo: queue, persistent: false, realm: context.realm) {
            [requests, sessions] error in
            guard let error, let request = requests.take(id) else { return }
            sessions.deliver(.requestFailed(error), to: request.session)
        }
    }

    /// Publishes an upload; `published` or `publishFailed` follows.
    func publish(_ message: ChangesetMessage, number: UInt64, session: UInt64) {
        publish(message, realm: message.realm) { [sessions, metrics] error in
            if let error {
                metrics.publishFailed()
                sessions.deliver(.publishFailed(number, error), to: session)
            } else {
                sessions.deliver(.published(number), to: session)
            }
        }
    }

    /// Publishes to the realm's slice something that nobody waits for.
    func tell(_ message: some Message, realm: RealmName) {
        publish(message, realm: realm) { [logger] error in
            guard let error else { return }
            logger.warning(
                "a message could not be published",
                metadata: ["type": "\(type(of: message).type)", "app": "\(realm.app)", "error": "\(error)"])
        }
    }

    /// Publishes to the coordinator. A message that cannot be made or taken is told to `completion`.
    func report(
        _ message: some Message, id: String = UUID().uuidString.lowercased(),
        _ completion: @escaping @Sendable (GatewayError?) -> Void = { _ in }
    ) {
        do {
            let amqp = try AMQPMessage(message, id: id)
            push(amqp, exchange: configuration.topology.outcomes, key: "", lane: 0, completion)
        } catch {
            cannotEncode(error, completion)
        }
    }

    /// The same, waiting for the broker's confirm.
    func reportConfirmed(_ message: some Message, id: String) async throws {
        guard isUp else { throw GatewayError(.brokerUnavailable, "the broker is away") }
        let error: GatewayError? = await withCheckedContinuation { continuation in
            report(message, id: id) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }

    /// Returns when the queue is bound for the realm's notices.
    func subscribe(_ realm: RealmName) async throws { try await bindings.retain(Self.keys(realm)) }

    func unsubscribe(_ realm: RealmName) async {
        await bindings.release(Self.keys(realm), at: clock.unixMilliseconds())
    }

    private static func keys(_ realm: RealmName) -> [String] {
        [realm.topicKey, ResetNotice.topicKey(app: realm.app), SettingsNotice.topicKey(app: realm.app)]
    }

    private var queue: String { configuration.topology.gateway(configuration.id) }

    private func publish(
        _ message: some Message, id: String = UUID().uuidString.lowercased(), correlationID: String? = nil,
        replyTo: String? = nil, persistent: Bool = true, realm: RealmName,
        _ completion: @escaping @Sendable (GatewayError?) -> Void
    ) {
        let slice = realm.slice(of: configuration.slices)
        do {
            let amqp = try AMQPMessage(
                message, id: id, correlationID: correlationID, replyTo: replyTo, persistent: persistent)
            push(amqp, exchange: configuration.topology.slices, key: String(slice.value), lane: slice.value, completion)
        } catch {
            cannotEncode(error, completion)
        }
    }

    /// One lane for a slice: everything about a realm keeps its order.
    private func push(
        _ message: AMQPMessage, exchange: String, key: String, lane: Int,
        _ completion: @escaping @Sendable (GatewayError?) -> Void
    ) {
        lanes[lane % lanes.count].push(
            PublishLane.Item(message: message, exchange: exchange, routingKey: key, completion: completion))
    }

    private func cannotEncode(_ error: any Error, _ completion: @Sendable (GatewayError?) -> Void) {
        logger.error("a message could not be encoded", metadata: ["error": "\(error)"])
        completion(GatewayError(.notEncodable, "a message could not be encoded", underlying: error))
    }
}

// MARK: Running

extension ClusterLink: Service {
    func run() async throws {
        var settings = configuration.amqp
        settings.connectionName = "\(configuration.topology.prefix) gateway \(configuration.id), publishing"
        let publishing = AMQPConnection(configuration: settings, logger: logger)
        settings.connectionName = "\(configuration.topology.prefix) gateway \(configuration.id), consuming"
        let consuming = AMQPConnection(configuration: settings, logger: logger)
        do {
            try await cancelWhenGracefulShutdown {
                try await self.connect(publishing)
                try await self.connect(consuming)
            }
        } catch is CancellationError {
            // Stopped before there was a broker: nothing to finish.
            await publishing.close()
            await consuming.close()
            return
        }
        let publishChannel = try await publishing.openChannel(confirms: true)
        try await configuration.topology.declareShared(on: publishChannel, slices: configuration.slices)
        let consumeChannel = try await consuming.openChannel(prefetch: configuration.limits.prefetch)
        try await declareQueue(on: consumeChannel)
        await bindings.use(consumeChannel)
        let consumer = try await consumeChannel.consume(queue: queue)
        let failure = await serve(publishChannel, consumer, watching: [publishing, consuming])
        readiness.set(readinessName, ready: false, reason: failure == nil ? "shutting down" : "the queue is lost")
        await publishing.close()
        await consuming.close()
        if let failure { throw failure }
    }

    private enum Ending {
        case shutdown
        case lanesEmpty
        case timeUp
        case queueLost(any Error)
        case other
    }

    /// Runs until the shutdown, and then until what was handed in is published, but not for ever.
    private func serve(
        _ channel: AMQPChannel, _ consumer: AMQPConsumer, watching connections: [AMQPConnection]
    ) async -> (any Error)? {
        await withTaskGroup(of: Ending.self) { group in
            let lanes = lanes
            group.addTask {
                await withDiscardingTaskGroup { lanesGroup in
                    for lane in lanes { lanesGroup.addTask { await lane.run(on: channel, timeout: .seconds(30)) } }
                }
                return .lanesEmpty
            }
            group.addTask {
                await self.watch(connections, consumer.channel)
                return .other
            }
            group.addTask {
                do {
                    try await self.consumeAndReopen(consumer)
                    return .other
                } catch {
                    return .queueLost(error)
                }
            }
            group.addTask {
                await self.housekeep()
                return .other
            }
            group.addTask {
                try? await gracefulShutdown()
                return .shutdown
            }
            var failure: (any Error)?
            waiting: for await ending in group {
                switch ending {
                case .shutdown:
                    for lane in lanes { lane.close() }
                    group.addTask {
                        try? await Task.sleep(for: .seconds(5))
                        return .timeUp
                    }
                case .lanesEmpty, .timeUp: break waiting
                case .queueLost(let error):
                    failure = error
                    break waiting
                case .other: break
                }
            }
            for lane in lanes { lane.close() }
            group.cancelAll()
            return failure
        }
    }

    private func connect(_ connection: AMQPConnection) async throws {
        var wait = 1
        while let error = await Self.start(connection) {
            guard error.isRetriable else { throw error }
            readiness.set(readinessName, ready: false, reason: "\(error.code)")
            logger.warning("cannot reach the broker, trying again", metadata: ["error": "\(error)"])
            try await Task.sleep(for: .seconds(wait))
            wait = min(wait * 2, 15)
        }
    }

    private static func start(_ connection: AMQPConnection) async -> AMQPError? {
        do {
            try await connection.start()
            return nil
        } catch {
            return error
        }
    }

    /// Keeps the link's state true to its two connections.
    ///
    /// Changes are taken one after the other, and a connection that was lost and made again between two looks is known
    /// by its generation: what was sent to this gateway meanwhile is gone all the same.
    private func watch(_ connections: [AMQPConnection], _ channel: AMQPChannel) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            for connection in connections {
                group.addTask { for await _ in connection.stateUpdates { change.yield() } }
            }
            group.addTask {
                var current: [Int]?
                for await _ in changes {
                    let states = connections.map(\.state)
                    let generations = Self.generations(states)
                    guard generations != current || generations == nil else { continue }
                    self.isDown(states)
                    current = nil
                    guard let generations else { continue }
                    do {
                        try await self.awaitRecovery(of: channel)
                        current = generations
                        self.isUpAgain()
                    } catch {
                        self.logger.warning("the gateway's queue is not there yet", metadata: ["error": "\(error)"])
                        // Unless the connection is lost, which is a change of its own, it is only late.
                        try? await Task.sleep(for: .milliseconds(200))
                        change.yield()
                    }
                }
            }
        }
    }

    /// One number a connection, grown with each time it was made; nil unless all are connected.
    private static func generations(_ states: [AMQPConnectionState]) -> [Int]? {
        var generations: [Int] = []
        for state in states {
            guard case .connected(let generation) = state else { return nil }
            generations.append(generation)
        }
        return generations
    }

    /// Returns once the queue and its bindings are declared again. Any operation that the broker answers waits for that;
    /// before it, an answer has nowhere to go and a notice is not heard.
    private func awaitRecovery(of channel: AMQPChannel) async throws {
        try await channel.declareExchange(configuration.topology.realms, type: .topic, passive: true, record: false)
    }

    private func isDown(_ states: [AMQPConnectionState]) {
        let wasUp = up.exchange(false, ordering: .acquiringAndReleasing)
        readiness.set(readinessName, ready: false, reason: "\(states)")
        guard wasUp else { return }
        metrics.link(isUp: false)
        logger.warning("the broker is away or blocks publishers", metadata: ["state": "\(states)"])
        for request in requests.takeAll() {
            let error = GatewayError(.brokerUnavailable, "the broker is away")
            sessions.deliver(.requestFailed(error), to: request.session)
        }
    }

    private func isUpAgain() {
        up.store(true, ordering: .releasing)
        readiness.set(readinessName, ready: true, reason: "")
        metrics.link(isUp: true)
        logger.info("connected to the broker", metadata: ["queue": "\(queue)"])
        sessions.deliverToAll(.linkUp)
    }

    private func housekeep() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
            let now = clock.unixMilliseconds()
            for request in requests.takeExpired(at: now) {
                metrics.requestTimedOut()
                sessions.deliver(
                    .requestFailed(GatewayError(.timeout, "no owner answered in time")), to: request.session)
            }
            await bindings.sweep(at: now)
        }
    }
}

// MARK: What comes

extension ClusterLink {
    private func declareQueue(on channel: AMQPChannel) async throws {
        try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: queue, durable: false, exclusive: true,
                arguments: ["x-max-length": 200_000, "x-max-length-bytes": .int(1 << 30)]))
    }

    /// Consumes until the link is closed. When the broker ends the consumer for good, because somebody deleted the queue,
    /// the queue is declared and bound again, and the sessions ask for what they missed.
    private func consumeAndReopen(_ first: AMQPConsumer) async throws {
        var consumer = first
        while true {
            do { return try await consume(consumer) } catch { try Task.checkCancellation() }
            readiness.set(readinessName, ready: false, reason: "the queue is lost")
            consumer = try await reopen(first.channel)
            readiness.set(readinessName, ready: isUp, reason: isUp ? "" : "the broker is away")
            logger.info("the gateway's queue is declared again", metadata: ["queue": "\(queue)"])
            sessions.deliverToAll(.linkUp)
        }
    }

    private func reopen(_ channel: AMQPChannel) async throws -> AMQPConsumer {
        var wait = Duration.milliseconds(100)
        while true {
            do {
                try await declareQueue(on: channel)
                try await bindings.rebind()
                return try await channel.consume(queue: queue)
            } catch {
                try Task.checkCancellation()
                if (error as? AMQPError)?.code == .closed { throw error }
                logger.warning(
                    "the gateway's queue cannot be declared again",
                    metadata: ["queue": "\(queue)", "error": "\(error)"])
            }
            try await Task.sleep(for: wait)
            wait = min(wait * 2, .seconds(5))
        }
    }

    private func consume(_ consumer: AMQPConsumer) async throws {
        while let batch = try await next(consumer).get() {
            for delivery in batch { receive(delivery.message) }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
    }

    /// A value in between: the compiler (6.3.1) crashes on a typed error in the loop's condition.
    private func next(_ consumer: AMQPConsumer) async -> Result<[AMQPDelivery]?, AMQPError> {
        do {
            return .success(try await consumer.nextBatch(max: 256))
        } catch {
            logger.error("the gateway's queue is lost", metadata: ["queue": "\(queue)", "error": "\(error)"])
            return .failure(error)
        }
    }

    /// Nobody else reads this queue, so what cannot be read is of no use to anybody: it is logged and dropped.
    private func receive(_ message: AMQPMessage) {
        do {
            try dispatch(message)
        } catch {
            metrics.undecodable()
            logger.error(
                "a message from the cluster cannot be read",
                metadata: ["type": "\(message.properties.type ?? "none")", "error": "\(error)"])
        }
    }

    private func dispatch(_ message: AMQPMessage) throws {
        switch message.properties.type {
        case BoundAnswer.type: answer(message, .bound(try message.decode(BoundAnswer.self)))
        case IdentifiedAnswer.type: answer(message, .identified(try message.decode(IdentifiedAnswer.self)))
        case PageAnswer.type: answer(message, .page(try message.decode(PageAnswer.self)))
        case RefusedAnswer.type:
            let refusal = try message.decode(RefusedAnswer.self)
            if let id = message.properties.correlationID { _ = requests.take(id) }
            guard refusal.session.gateway == configuration.id else { return }
            sessions.deliver(.refused(refusal), to: refusal.session.number)
        case IntegratedNotice.type:
            let notice = try message.decode(IntegratedNotice.self)
            sessions.deliver(.fanned(FannedNotice(notice)), toRealm: notice.realm)
        case ResetNotice.type:
            let notice = try message.decode(ResetNotice.self)
            apps.forget(notice.app)
            sessions.deliver(.reset(notice), toApp: notice.app)
        case GenerationNotice.type:
            sessions.deliver(try message.decode(GenerationNotice.self))
        case SettingsNotice.type:
            let notice = try message.decode(SettingsNotice.self)
            apps.forget(notice.app)
            sessions.settingsChanged(app: notice.app)
        case let other:
            throw MessageError(messageType: other ?? "untyped", reason: "not for a gateway")
        }
    }

    private func answer(_ message: AMQPMessage, _ event: ClusterEvent) {
        // An answer after its deadline, or to an earlier life of this gateway's id, is nobody's.
        guard let id = message.properties.correlationID, let request = requests.take(id) else { return }
        metrics.answered(afterMilliseconds: clock.unixMilliseconds() &- request.startedAt)
        sessions.deliver(event, to: request.session)
    }
}
