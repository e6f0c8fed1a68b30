import Logging
import Messages
import Operations
import Storage
import SyncModel

/// What the parts of a coordinator share.
struct CoordinatorContext: Sendable {
    let configuration: CoordinatorConfiguration
    let store: any ControlStore
    let rules: AppRules
    let readiness: Readiness
    let clock: WallClock
    let logger: Logger
    let state: CoordinatorState
    let link: BrokerLink
    let answers: EventAnswers
    let sessions = EndedSessions()
    let queueAudit: QueueAudit

    init(
        configuration: CoordinatorConfiguration, store: any ControlStore, readiness: Readiness, clock: WallClock,
        logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        rules = AppRules(store: store)
        queueAudit = QueueAudit(store: store, clock: clock, logger: logger)
        self.readiness = readiness
        self.clock = clock
        self.logger = logger
        state = CoordinatorState(tickInterval: configuration.tickInterval)
        link = BrokerLink(configuration: configuration, logger: logger)
        answers = EventAnswers(link: link, logger: logger)
    }

    var now: UInt64 { clock.now() }
    var slices: SliceCount { configuration.slices }
    var topology: Topology { configuration.topology }
    var notices: SettingsNotifier { SettingsNotifier(context: self) }
    var publisher: CampaignPublisher { CampaignPublisher(context: self) }
    var deadLetters: DeadLetterQueue {
        DeadLetterQueue(connection: link.consumer, topology: topology, slices: slices)
    }

    /// Notes that another coordinator may be the active one from now on.
    func standBy(_ reason: String) {
        readiness.set("coordinator.role", ready: true, reason: "standing by")
        logger.info("this coordinator stands by", metadata: ["reason": "\(reason)"])
    }
}
