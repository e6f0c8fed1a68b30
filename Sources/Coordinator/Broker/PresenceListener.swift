import AMQP
import Logging
import Messages
import ServiceLifecycle

/// Hears the workers' heartbeats, through a queue of its own that keeps only the newest.
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
        let consumer = try await channel.consume(queue: queue.name, exclusive: true)
        while let batch = try await consumer.nextBatch(max: 100) {
            for delivery in batch {
                // Other messages on the exchange are ignored.
                guard let heartbeat = try? delivery.message.decode(HeartbeatMessage.self) else { continue }
                context.state.heard(heartbeat, at: context.now)
            }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
    }
}
