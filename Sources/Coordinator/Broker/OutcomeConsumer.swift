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
    let context: CoordinatorContext

    /// Consumes until the process stops, and starts again after a failure of the broker.
    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                try await consume()
            } catch {
                guard !Task.isCancelled else { return }
                context.logger.warning("consumer of outcomes ended, starts again", metadata: ["error": "\(error)"])
            }
            if context.state.lostConsumer() { context.standBy("the consumer ended") }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(500)) }
        }
    }

    private func consume() async throws {
        let channel = try await context.link.consumer.openChannel(prefetch: context.configuration.prefetch)
        try await context.topology.declareShared(on: channel, slices: context.slices)
        let consumer = try await channel.consume(queue: context.topology.outcomes)
        // The broker delivers this tick to the active coordinator only.
        try await context.link.publish(TickMessage(at: context.now), exchange: context.topology.outcomes)
        while let batch = try await cancelWhenGracefulShutdown({
            try await consumer.nextBatch(max: context.configuration.prefetch)
        }) {
            guard let last = batch.last else { continue }
            let isNews = context.state.delivered(at: context.now)
            if isNews {
                context.readiness.set("coordinator.role", ready: true, reason: "active")
                context.logger.info("this coordinator is active")
                await context.publisher.publishRecorded()
            }
            try await process(batch)
            try await consumer.ack(upTo: last)
        }
        await channel.close()
    }

    private func process(_ batch: [AMQPDelivery]) async throws {
        var reports: [(report: CampaignReport, type: String, delivery: AMQPDelivery)] = []
        var newer: [AMQPMessage] = []
        for delivery in batch {
            switch OutcomeQueueMessage(delivery.message) {
            case .report(let report, let type): reports.append((report, type, delivery))
            case .erased(let progress):
                try await noting { () throws(StoreError) in try await context.store.note(progress) }
            case .queried(let report):
                try await noting { () throws(StoreError) in try await QueriedFields(context: context).take(report) }
            case .letters(let report):
                try await noting { () throws(StoreError) in try await context.queueAudit.note(report) }
            case .tick: break
            case .newer(let reason):
                if newer.isEmpty {
                    context.logger.warning(
                        "reports of a newer version of Sluice go back to the queue: upgrade this coordinator",
                        metadata: ["queue": "\(context.topology.outcomes)", "first": "\(reason)"])
                }
                newer.append(delivery.message.returned())
            case .poison(let reason):
                try await bury(delivery, reason: reason, app: nil)
            }
        }
        try await giveBack(newer, pausing: newer.count == batch.count)
        guard !reports.isEmpty else { return }
        let start = ContinuousClock.now
        if context.logger.logLevel <= .debug { for (report, type, _) in reports { log(report, type) } }
        let effects = try await apply(reports.map(\.report))
        context.queueAudit.tell(of: effects.opened)
        context.state.campaignGauges.changed()
        CoordinatorMetrics.batchApplied(ContinuousClock.now - start, reports: reports.count)
        for rejection in effects.rejected where reports.indices.contains(rejection.index) {
            let rejected = reports[rejection.index]
            // What is still said of an app that was deleted is of no use to anybody.
            if try await noting({ () throws(StoreError) in
                try await context.store.deletion(ofApp: rejected.report.app)
            }) != nil {
                continue
            }
            try await bury(rejected.delivery, reason: rejection.reason, app: rejected.report.app)
        }
        for (type, count) in Dictionary(grouping: reports, by: \.type).mapValues(\.count) {
            CoordinatorMetrics.reportsProcessed(type, count)
        }
        await report(effects)
    }

    private func log(_ report: CampaignReport, _ type: String) {
        for realm in report.clientRealms {
            context.logger.debug(
                "report of a client realm",
                metadata: .about(
                    realm.realm, clientFile: realm.clientFile, campaign: report.campaign, ["type": "\(type)"]))
        }
    }

    /// Moves a report that cannot be used to the dead letters, with the reason, for an operator to look at.
    private func bury(_ delivery: AMQPDelivery, reason: String, app: String?) async throws {
        let draft = DeadLetterDraft(
            delivery.message, reason: reason, queue: context.topology.outcomes, app: app, diedAt: context.now)
        try await context.link.publish(draft.letter, exchange: context.topology.dead, routingKey: "", mandatory: true)
        CoordinatorMetrics.deadLettered(1)
        context.logger.error(
            "report refused and parked",
            metadata: [
                "queue": "\(context.topology.outcomes)", "reason": "\(reason)", "app": "\(app ?? "")",
                "message": "\(delivery.message.properties.messageID ?? "")",
            ])
    }

    /// Puts reports back at the end of the queue, for a coordinator of a newer version to take.
    ///
    /// - Parameter pausing: whether nothing else came: then they would come back at once.
    private func giveBack(_ newer: [AMQPMessage], pausing: Bool) async throws {
        guard !newer.isEmpty else { return }
        if pausing { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.newerPause) } }
        let outcomes = context.topology.outcomes
        let errors = try await context.link.publish(batch: newer.map { ($0, exchange: outcomes, routingKey: "") })
        if let error = errors.lazy.compactMap(\.self).first { throw error }
        CoordinatorMetrics.gaveBackNewer(newer.count)
    }

    private static let newerPause = Duration.seconds(2)

    private func apply(_ reports: [CampaignReport]) async throws -> CampaignEffects {
        try await noting { () throws(StoreError) in
            try await context.store.applyWhatItCan(reports, slices: context.slices.value, at: context.now) {
                [queueAudit = context.queueAudit] in queueAudit.entries(of: $0)
            }
        }
    }

    /// The store may be full, locked or away for a while: the batch is kept and tried again, not lost.
    private func noting<Value>(_ body: () async throws(StoreError) -> Value) async throws -> Value {
        var wait = Duration.milliseconds(100)
        while true {
            do throws(StoreError) {
                let value = try await body()
                context.readiness.set("coordinator.store", ready: true, reason: "open")
                return value
            } catch {
                guard !Task.isCancelled && !Task.isShuttingDownGracefully else { throw error }
                context.readiness.set("coordinator.store", ready: false, reason: error.message)
                context.logger.error(
                    "reports not applied, will try again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(5))
            }
        }
    }

    private func report(_ effects: CampaignEffects) async {
        for campaign in effects.opened {
            context.logger.info(
                "campaign opened from a slice's report",
                metadata: ["campaign": "\(campaign.id)", "app": "\(campaign.app)", "kind": "\(campaign.kind.rawValue)"])
        }
        for campaign in effects.changed {
            context.logger.debug(
                "campaign changed",
                metadata: [
                    "campaign": "\(campaign.id)", "app": "\(campaign.app)", "state": "\(campaign.state.rawValue)",
                    "slices_reported": "\(campaign.slicesReported)",
                ])
        }
        if effects.dropped > 0 {
            CoordinatorMetrics.outcomesDropped(effects.dropped)
            context.logger.error("waiting outcomes dropped, too many wait", metadata: ["count": "\(effects.dropped)"])
        }
        for app in effects.raisedApps { await context.notices.send(app) }
    }
}
