import AMQP
import Logging
import Messages
import Operations
import ServiceLifecycle
import Storage

/// A coordinator's parts, put together.
struct CoordinatorParts: Sendable {
    let configuration: CoordinatorConfiguration
    let control: any ControlStore
    let readiness: Readiness
    let clock: WallClock
    let logger: Logger
    let state: CoordinatorState
    let link: BrokerLink
    let notices: SettingsNotifier
    let publisher: CampaignPublisher

    init(
        configuration: CoordinatorConfiguration, control: any ControlStore, readiness: Readiness, clock: WallClock,
        logger: Logger
    ) {
        self.configuration = configuration
        self.control = control
        self.readiness = readiness
        self.clock = clock
        self.logger = logger
        state = CoordinatorState(tickInterval: configuration.tickInterval)
        link = BrokerLink(configuration: configuration, logger: logger)
        notices = SettingsNotifier(link: link, state: state, logger: logger)
        publisher = CampaignPublisher(link: link, store: control, clock: clock, logger: logger)
    }

    func server(boundPort: BoundPort) throws(CoordinatorError) -> AdminServer {
        AdminServer(
            host: configuration.host, port: configuration.port, boundPort: boundPort,
            token: try AdminToken.resolve(configuration),
            apps: AppRoutes(store: control, notices: notices, clock: clock),
            sync: SyncRoutes(
                store: control, publisher: publisher, notices: notices, slices: configuration.slices, clock: clock,
                logger: logger),
            campaigns: CampaignRoutes(store: control, events: CampaignEvents(store: control, state: state)),
            plans: PlanRoutes(
                store: control, stores: configuration.stores, link: link, state: state,
                slices: configuration.slices, clock: clock),
            cluster: ClusterRoutes(id: configuration.id, slices: configuration.slices, state: state, clock: clock),
            logger: logger)
    }

    /// Everything that goes through the broker, until the process stops.
    func work() async throws {
        readiness.set("coordinator.broker", ready: false, reason: "connecting")
        do {
            try await cancelWhenGracefulShutdown { try await link.connect() }
        } catch is CancellationError {
            return await link.close()
        }
        readiness.set("coordinator.role", ready: true, reason: "standing by")
        logger.info("connected to the broker", metadata: ["queue": "\(link.topology.outcomes)"])
        await withTaskGroup(of: Void.self) { group in
            for connection in [link.publisher, link.consumer] {
                group.addTask { await watch(connection) }
            }
            group.addTask { await presence.run() }
            group.addTask { await ticker.run() }
            group.addTask { await consumer.run() }
            // They return when the process stops; the watchers end with the connections.
            for _ in 0..<3 { await group.next() }
            await link.close()
        }
        readiness.set("coordinator.broker", ready: false, reason: "stopped")
    }

    private func watch(_ connection: AMQPConnection) async {
        var generation: Int?
        for await change in connection.stateUpdates {
            // A connection that was lost and made again between two looks shows by its generation only.
            let isLost = !change.isUsable || (generation != nil && generation != change.generation)
            generation = change.generation ?? generation
            if connection === link.consumer, isLost, state.lostConsumer() {
                readiness.set("coordinator.role", ready: true, reason: "standing by")
                logger.info("this coordinator stands by", metadata: ["reason": "the connection was lost"])
            }
            let unusable = [link.publisher.state, link.consumer.state].first { !$0.isUsable }
            readiness.set("coordinator.broker", ready: unusable == nil, reason: "\(unusable ?? change)")
        }
    }

    private var presence: PresenceListener {
        PresenceListener(link: link, state: state, clock: clock, logger: logger)
    }

    private var ticker: Ticker {
        Ticker(
            interval: configuration.tickInterval, link: link, store: control, state: state, publisher: publisher,
            notices: notices, readiness: readiness, clock: clock, logger: logger)
    }

    private var consumer: OutcomeConsumer {
        OutcomeConsumer(
            configuration: configuration, link: link, store: control, state: state, notices: notices,
            deadLetters: DeadLetterOffice(link: link, logger: logger), readiness: readiness, clock: clock,
            logger: logger, becameActive: { await publisher.publishRecorded() })
    }
}

extension AMQPConnectionState {
    /// Whether it takes publishes and deliveries now.
    var isUsable: Bool { generation != nil }

    fileprivate var generation: Int? { if case .connected(let generation) = self { generation } else { nil } }
}
