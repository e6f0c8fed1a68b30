import AMQP
import Logging
import Messages

/// Hears the heartbeats of all workers through a queue of its own, which is made again whenever it is lost: a worker that is deaf
/// to its peers would keep their slices for itself.
struct PresenceListener: Sendable {
    let connection: AMQPConnection
    let exchange: String
    let logger: Logger

    /// A channel with a new queue on it, bound and consumed. The queue goes with its consumer.
    func subscribe() async throws -> AMQPConsumer {
        let channel = try await connection.openChannel()
        do {
            let queue = try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: "", durable: false, exclusive: true, autoDelete: true,
                    arguments: ["x-max-length": 1000, "x-overflow": "drop-head"]))
            try await channel.bindQueue(queue.name, exchange: exchange, routingKey: "")
            return try await channel.consume(queue: queue.name)
        } catch {
            await channel.close()
            throw error
        }
    }

    /// Hands over every heartbeat until the task is cancelled or the connection is closed.
    func listen(on first: AMQPConsumer, _ heard: @Sendable (HeartbeatMessage) -> Void) async {
        var consumer = first
        while !Task.isCancelled {
            do {
                try await read(consumer, heard)
                return
            } catch {
                logger.warning("the queue of the workers' heartbeats is lost", metadata: ["error": "\(error)"])
            }
            await consumer.channel.close()
            guard let next = await resubscribe() else { return }
            consumer = next
        }
    }

    private func read(_ consumer: AMQPConsumer, _ heard: @Sendable (HeartbeatMessage) -> Void) async throws {
        while let batch = try await consumer.nextBatch(max: 100), let last = batch.last {
            for delivery in batch {
                if let heartbeat = try? delivery.message.decode(HeartbeatMessage.self) { heard(heartbeat) }
            }
            try await consumer.ack(upTo: last)
        }
    }

    private func resubscribe() async -> AMQPConsumer? {
        var pause = Duration.milliseconds(100)
        while !Task.isCancelled {
            do {
                return try await subscribe()
            } catch {
                if (error as? AMQPError)?.code == .closed { return nil }
                logger.warning("the workers' heartbeats cannot be heard", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(5))
        }
        return nil
    }
}
