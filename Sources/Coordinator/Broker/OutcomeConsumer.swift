import AMQP
import Logging
import Messages
import Operations
import ServiceLifecycle
import Storage
import SyncModel

/// Consumes the outcomes queue: a batch is applied to the store in one transaction, then acknowledged as a whole.
/// A crash in between brings it again, which changes nothing.
struct OutcomeConsumer: Sendable {
    let configuration: CoordinatorConfiguration
    let link: BrokerLink
    let store: any ControlStore
    let state: CoordinatorState
    let notices: SettingsNotifier
    let deadLetters: DeadLetterOffice
    let readiness: Readiness
    let clock: WallClock
    let logger: Logger
    /// Called when the broker has made this coordinator the active one.
    let becameActive: @Sendable () async -> Void

    /// Runs until the process stops; what goes wrong with the broker is tried again.
    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                try await consume()
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("consumer of outcomes ended, starts again", metadata: ["error": "\(error)"])
            }
            standBy("the consumer ended")
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(500)) }
        }
    }

    private func consume() async throws {
        let channel = try await link.consumer.openChannel(prefetch: configuration.prefetch)
        try await link.topology.declareShared(on: channel, slices: link.slices)
        let consumer = try await channel.consume(queue: link.topology.outcomes)
        // Whom this reaches is active.
        try await link.publish(
            TickMessage(at: clock.now()), exchange: link.topology.outcomes, routingKey: "", mandatory: true)
        while let batch = try await cancelWhenGracefulShutdown({
            try await consumer.nextBatch(max: configuration.prefetch)
        }) {
            guard let last = batch.last else { continue }
            let isNews = state.delivered(at: clock.now())
            if isNews {
                readiness.set("coordinator.role", ready: true, reason: "active")
                logger.info("this coordinator is active")
                await becameActive()
            }
            try await process(batch)
            try await consumer.ack(upTo: last)
        }
        await channel.close()
    }

    private func standBy(_ reason: String) {
        guard state.lostConsumer() else { return }
        readiness.set("coordinator.role", ready: true, reason: "standing by")
        logger.info("this coordinator stands by", metadata: ["reason": "\(reason)"])
    }

    private func process(_ batch: [AMQPDelivery]) async throws {
        var reports: [(report: CampaignReport, type: String, delivery: AMQPDelivery)] = []
        for delivery in batch {
            switch OutcomeQueueMessage(delivery.message) {
            case .report(let report, let type): reports.append((report, type, delivery))
            case .tick: break
            case .poison(let reason): try await deadLetters.bury(delivery, reason: reason, app: nil)
            }
        }
        guard !reports.isEmpty else { return }
        let start = ContinuousClock.now
        let effects = try await apply(reports.map(\.report))
        CoordinatorMetrics.batchApplied(ContinuousClock.now - start, reports: reports.count)
        for rejection in effects.rejected where reports.indices.contains(rejection.index) {
            let rejected = reports[rejection.index]
            try await deadLetters.bury(rejected.delivery, reason: rejection.reason, app: rejected.report.app)
        }
        for (type, count) in Dictionary(grouping: reports, by: \.type).mapValues(\.count) {
            CoordinatorMetrics.reportsProcessed(type, count)
        }
        await report(effects)
    }

    /// The store may be full, locked or away for a while: the batch is kept and tried again, not lost.
    private func apply(_ reports: [CampaignReport]) async throws -> CampaignEffects {
        var wait = Duration.milliseconds(100)
        while true {
            do {
                let effects = try await store.applyWhatItCan(reports, slices: link.slices.value, at: clock.now())
                readiness.set("coordinator.store", ready: true, reason: "open")
                return effects
            } catch {
                guard !Task.isCancelled && !Task.isShuttingDownGracefully else { throw error }
                readiness.set("coordinator.store", ready: false, reason: error.message)
                logger.error(
                    "reports not applied, will try again",
                    metadata: ["count": "\(reports.count)", "error": "\(error)"])
                try await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(5))
            }
        }
    }

    private func report(_ effects: CampaignEffects) async {
        for campaign in effects.opened {
            logger.info(
                "campaign opened from a slice's report",
                metadata: ["campaign": "\(campaign.id)", "app": "\(campaign.app)", "kind": "\(campaign.kind.rawValue)"])
        }
        for campaign in effects.changed {
            logger.debug(
                "campaign changed",
                metadata: [
                    "campaign": "\(campaign.id)", "app": "\(campaign.app)", "state": "\(campaign.state.rawValue)",
                    "slices_reported": "\(campaign.slicesReported)",
                ])
        }
        if effects.dropped > 0 {
            CoordinatorMetrics.outcomesDropped(effects.dropped)
            logger.error("waiting outcomes dropped, too many wait", metadata: ["count": "\(effects.dropped)"])
        }
        for app in effects.raisedApps { await notices.send(app) }
    }
}
