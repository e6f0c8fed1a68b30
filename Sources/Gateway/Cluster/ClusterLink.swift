import AMQP
import Foundation
import Logging
import Messages
import Operations
import Storage
import SyncModel
import Synchronization

/// The gateway's line to the cluster: requests to the owners of slices, their answers and notices, uploads, outcomes.
///
/// Two connections, because a broker that is short of memory stops reading from publishers. When either is lost the link
/// is down: requests fail, uploads wait in their sessions; when both are back every session hears of it and asks for
/// what it may have missed. The queue and its bindings are declared again by the AMQP client.
final class ClusterLink: Sendable {
    static let laneCount = 8
    private static let maxNotifyAttempts = 12
    /// How often the gateway's queue is looked at.
    static let queueInterval: Duration = .seconds(5)
    let sessions: SessionDirectory
    let configuration: GatewayConfiguration
    let readiness: Readiness
    let clock: GatewayClock
    let logger: Logger
    let metrics: GatewayMetrics
    let requests: RequestTable
    let bindings: TopicBindings
    let lanes: [PublishLane]
    let inbox: ClusterInbox
    let fans: FlexibleFans
    let recent: RecentVersions
    /// Answers and notices that wait to be handed over.
    let spool: AMQPSpool
    private let up = Atomic(false)
    let readinessName = "gateway.broker"

    init(
        configuration: GatewayConfiguration, apps: AppDirectory, watch: AppWatch, readiness: Readiness,
        clock: GatewayClock, metrics: GatewayMetrics, keysChanged: @escaping @Sendable () -> Void = {}, logger: Logger
    ) {
        self.configuration = configuration
        self.readiness = readiness
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        requests = RequestTable(limit: configuration.limits.outstandingRequests)
        sessions = watch.sessions
        fans = FlexibleFans(clock: clock, limits: configuration.limits.evaluation, metrics: metrics)
        recent = RecentVersions(bytes: configuration.limits.recentBytes)
        inbox = ClusterInbox(
            gateway: configuration.id, watch: watch, requests: requests, apps: apps, fans: fans, recent: recent,
            keysChanged: keysChanged, clock: clock, metrics: metrics, logger: logger)
        spool = AMQPSpool(folder: configuration.spoolFolder, maxHeldBytes: configuration.limits.heldBytes)
        let topology = configuration.topology
        bindings = TopicBindings(queue: topology.gateway(configuration.id), exchange: topology.realms)
        lanes = (0..<Self.laneCount).map { _ in PublishLane() }
        readiness.set(readinessName, ready: false, reason: "connecting")
    }

    var isUp: Bool { up.load(ordering: .acquiring) }

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

    /// Publishes to the realm's slice; a failure is only logged.
    func tell(_ message: some Message, realm: RealmName) {
        publish(message, realm: realm) { [logger] error in
            guard let error else { return }
            logger.warning(
                "a message could not be published",
                metadata: ["type": "\(type(of: message).type)", "app": "\(realm.app)", "error": "\(error)"])
        }
    }

    /// Reports to the coordinator what no other process does, and tries again for some minutes while the broker is away.
    func notify(_ message: some Message, id: String = UUID().uuidString.lowercased(), attempt: Int = 1) {
        report(message, id: id) { [weak self, logger] error in
            guard let error else { return }
            guard attempt < Self.maxNotifyAttempts else {
                return logger.warning(
                    "a report could not be published",
                    metadata: ["type": "\(type(of: message).type)", "error": "\(error)"])
            }
            Task { [weak self] in
                try await Task.sleep(for: .seconds(min(60, 1 << attempt)))
                self?.notify(message, id: id, attempt: attempt + 1)
            }
        }
    }

    /// Publishes to the coordinator. `completion` is told why a message could not be made or taken.
    func report(
        _ message: some Message, id: String = UUID().uuidString.lowercased(),
        _ completion: @escaping @Sendable (GatewayError?) -> Void
    ) {
        send(completion, to: configuration.topology.outcomes) { try AMQPMessage(message, id: id) }
    }

    /// Tells whichever coordinators listen how the gateway stands; that nobody does is no error.
    func showFigures(unacknowledged: [String: UInt64]?, process: ProcessFacts?, isStaying: Bool) {
        let apps = metrics.apps(sessions: sessions.counts)
        guard isUp else { return }
        var figures = metrics.figures(of: configuration.id, at: clock.unixMilliseconds(), isStaying: isStaying)
        figures.unacknowledged = unacknowledged
        figures.apps = apps
        figures.process = process
        send({ _ in }, to: configuration.topology.outcomes, key: Topology.figuresKey) {
            try AMQPMessage(figures, persistent: false)
        }
    }

    /// Reports a message as `report` does, and waits for the broker's confirm.
    func reportConfirmed(_ message: some Message, id: String) async throws {
        guard isUp else { throw GatewayError(.brokerUnavailable, "the broker is away") }
        let error: GatewayError? = await withCheckedContinuation { continuation in
            report(message, id: id) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }

    /// Asks for the realm's notices.
    ///
    /// - Returns: nil if the queue is bound for them already, else what returns when it is.
    func subscribe(_ realm: RealmName) -> (@Sendable () async throws -> Void)? {
        let keys = Self.keys(realm)
        guard !bindings.retainAtOnce(keys) else { return nil }
        return { [bindings] in try await bindings.wait(for: keys) }
    }

    func unsubscribe(_ realm: RealmName) { bindings.release(Self.keys(realm), at: clock.unixMilliseconds()) }

    private static func keys(_ realm: RealmName) -> [String] {
        [realm.topicKey, ResetNotice.topicKey(app: realm.app)]
    }

    var queue: String { configuration.topology.gateway(configuration.id) }

    private func publish(
        _ message: some Message, id: String = UUID().uuidString.lowercased(), correlationID: String? = nil,
        replyTo: String? = nil, persistent: Bool = true, realm: RealmName,
        _ completion: @escaping @Sendable (GatewayError?) -> Void
    ) {
        // One lane for a slice: everything about a realm keeps its order.
        let slice = realm.slice(of: configuration.slices).value
        send(completion, to: configuration.topology.slices, key: String(slice), lane: slice) {
            try AMQPMessage(
                message, id: id, correlationID: correlationID, replyTo: replyTo, persistent: persistent)
        }
    }

    private func send(
        _ completion: @escaping @Sendable (GatewayError?) -> Void, to exchange: String, key: String = "",
        lane: Int = 0, _ make: () throws -> AMQPMessage
    ) {
        do {
            lanes[lane % lanes.count].push(
                PublishLane.Item(message: try make(), exchange: exchange, routingKey: key, completion: completion))
        } catch {
            logger.error("a message could not be encoded", metadata: ["error": "\(error)"])
            completion(GatewayError(.notEncodable, "a message could not be encoded", underlying: error))
        }
    }

    // MARK: Down and up

    /// - Parameter obstacle: what keeps the connections from being used; nil if one was only lost for a moment.
    func isDown(_ obstacle: String?) {
        let wasUp = up.exchange(false, ordering: .acquiringAndReleasing)
        bindings.fail(GatewayError(.brokerUnavailable, "the broker is away"))
        let reason = obstacle ?? "the connection was lost and is there again"
        readiness.set(readinessName, ready: false, reason: reason)
        guard wasUp else { return }
        metrics.link(isUp: false)
        metrics.queueReady(nil)
        logger.warning("the broker is away or blocks publishers", metadata: ["state": "\(reason)"])
        for request in requests.takeAll() {
            let error = GatewayError(.brokerUnavailable, "the broker is away")
            sessions.deliver(.requestFailed(error), to: request.session)
        }
    }

    func isUpAgain() {
        up.store(true, ordering: .releasing)
        readiness.set(readinessName, ready: true, reason: "")
        metrics.link(isUp: true)
        logger.info("connected to the broker", metadata: ["queue": "\(queue)"])
        sessions.deliverToAll(.linkUp)
    }
}
