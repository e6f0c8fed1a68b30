import AMQP
import Logging
import Messages

/// Moves messages that cannot be used to the dead letters, whole and with the reason, for an operator to look at.
struct DeadLetterOffice: Sendable {
    let context: CoordinatorContext

    func bury(_ delivery: AMQPDelivery, reason: String, app: String?) async throws {
        var message = delivery.message.forRepublishing()
        var headers = message.properties.headers
        headers[DeadLetter.reasonHeader] = .string(String(reason.prefix(500)))
        headers[DeadLetter.queueHeader] = .string(context.topology.outcomes)
        headers["x-sluice-type"] = .string(message.properties.type ?? "")
        if let app { headers[DeadLetter.appHeader] = .string(String(app.prefix(64))) }
        message.properties.headers = headers
        try await context.link.publish(message, exchange: context.topology.dead, routingKey: "", mandatory: true)
        CoordinatorMetrics.deadLettered(1)
        context.logger.error(
            "report refused and parked",
            metadata: [
                "queue": "\(context.topology.outcomes)", "reason": "\(reason)", "app": "\(app ?? "")",
                "message": "\(message.properties.messageID ?? "")",
            ])
    }
}
