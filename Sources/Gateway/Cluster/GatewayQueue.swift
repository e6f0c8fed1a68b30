import AMQP
import Logging

/// The gateway's own queue: answers to its requests, and the notices that its bindings ask for.
struct GatewayQueue: Sendable {
    let name: String
    let channel: AMQPChannel
    let bindings: TopicBindings
    let inbox: ClusterInbox
    let spool: AMQPSpool
    let limits: GatewayLimits
    let logger: Logger

    func consume() async throws(AMQPError) -> AMQPConsumer { try await channel.consume(queue: name, spool: spool) }

    func declare() async throws {
        try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: name, durable: false, exclusive: true,
                arguments: ["x-max-length": 200_000, "x-max-length-bytes": .int(1 << 30)]))
    }

    /// Hands over what comes until the channel is closed.
    /// - Throws: what ended the consumer before.
    func read(_ consumer: AMQPConsumer) async throws {
        while let batch = try await next(consumer).get() {
            for delivery in bindings.wanted(batch) { inbox.receive(delivery.message) }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
    }

    /// A value in between: the compiler (6.3.1) crashes on a typed error in the loop's condition.
    private func next(_ consumer: AMQPConsumer) async -> Result<[AMQPDelivery]?, AMQPError> {
        do {
            return .success(try await consumer.nextBatch(max: limits.batch, maxBytes: limits.batchBytes))
        } catch {
            logger.error("the gateway's queue is lost", metadata: ["queue": "\(name)", "error": "\(error)"])
            return .failure(error)
        }
    }

    /// Declares, binds and consumes again, however often it takes.
    /// - Throws: when the channel is closed or the task is cancelled.
    func reopen() async throws -> AMQPConsumer {
        var wait = Duration.milliseconds(100)
        while true {
            do {
                try await declare()
                try await bindings.renew()
                return try await consume()
            } catch {
                try Task.checkCancellation()
                if (error as? AMQPError)?.code == .closed { throw error }
                logger.warning(
                    "the gateway's queue cannot be declared again", metadata: ["queue": "\(name)", "error": "\(error)"])
            }
            try await Task.sleep(for: wait)
            wait = min(wait * 2, .seconds(5))
        }
    }
}
