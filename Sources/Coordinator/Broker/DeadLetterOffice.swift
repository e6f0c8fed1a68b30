import AMQP
import Logging
import Messages

/// Moves reports that cannot be used to the dead letters, with the reason, for an operator to look at.
struct DeadLetterOffice: Sendable {
    let context: CoordinatorContext

    func bury(_ delivery: AMQPDelivery, reason: String, app: String?) async throws {
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
}
