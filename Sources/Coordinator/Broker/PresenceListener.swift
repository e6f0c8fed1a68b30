import AMQP
import Logging
import Messages
import ServiceLifecycle

/// Hears the workers' heartbeats, how gateways stand and who has logged out of the dashboard elsewhere, through a queue of its own
/// that keeps only the newest.
struct PresenceListener: Sendable {
    let context: CoordinatorContext

    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                try await cancelWhenGracefulShutdown { try await listen() }
            } catch {
                guard !Task.isCancelled && !Task.isShuttingDownGracefully else { return }
                context.logger.warning("listening to heartbeats ended, starts again", metadata: ["error": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(500)) }
        }
    }

    private func listen() async throws {
        let channel = try await context.link.consumer.openChannel(prefetch: 100)
        try await context.topology.declarePresence(on: channel)
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: ["x-max-length": 1000, "x-overflow": "drop-head"]))
        try await channel.bindQueue(queue.name, exchange: context.topology.presence, routingKey: "")
        try await channel.bindQueue(
            queue.name, exchange: context.topology.outcomes, routingKey: Topology.figuresKey)
        let consumer = try await channel.consume(queue: queue.name, exclusive: true)
        while let batch = try await consumer.nextBatch(max: 100) {
            for delivery in batch {
                hear(delivery.message)
            }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
    }

    /// Other messages on the exchanges are ignored.
    private func hear(_ message: AMQPMessage) {
        if let heartbeat = try? message.decode(HeartbeatMessage.self) {
            context.state.heard(heartbeat, at: context.now)
        } else if let figures = try? message.decode(GatewayFigures.self) {
            context.state.heard(figures, at: context.now)
        } else if let figures = try? message.decode(CoordinatorFigures.self) {
            context.state.heard(figures, at: context.now)
        } else if let logout = try? message.decode(DashboardLogout.self) {
            context.sessions.end(logout.session, expiresAt: logout.expiresAt, now: context.now)
        }
    }
}
