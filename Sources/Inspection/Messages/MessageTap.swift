package import AMQP
package import Messages
package import SyncModel

/// Copies of the messages that pass the exchanges, through a queue of the tap's own: every other queue still gets every
/// message.
package struct MessageTap: Sendable {
    // How much the broker keeps for a slow reader; beyond that it drops the oldest messages.
    package static let maxWaiting: Int64 = 20_000
    package static let maxWaitingBytes: Int64 = 64 << 20

    package let queue: String
    package let consumer: AMQPConsumer
    private let channel: AMQPChannel

    /// - Parameter includesPresence: whether to copy the workers' heartbeats too.
    /// - Throws: `notFound` if the cluster's exchanges do not exist.
    package static func open(
        on connection: AMQPConnection, topology: Topology, slices: SliceCount, includesPresence: Bool
    ) async throws(AMQPError) -> MessageTap {
        let channel = try await connection.openChannel(prefetch: 1000)
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: [
                    "x-max-length": .int(maxWaiting), "x-max-length-bytes": .int(maxWaitingBytes),
                    "x-overflow": "drop-head",
                ])
        ).name
        for slice in slices.all {
            for exchange in [topology.slices, topology.events] {
                try await channel.bindQueue(queue, exchange: exchange, routingKey: String(slice.value))
            }
        }
        try await channel.bindQueue(queue, exchange: topology.terminations, routingKey: "")
        try await channel.bindQueue(queue, exchange: topology.realms, routingKey: "#")
        try await channel.bindQueue(queue, exchange: topology.outcomes, routingKey: "")
        try await channel.bindQueue(queue, exchange: topology.dead, routingKey: "")
        if includesPresence { try await channel.bindQueue(queue, exchange: topology.presence, routingKey: "") }
        return MessageTap(
            queue: queue, consumer: try await channel.consume(queue: queue, exclusive: true), channel: channel)
    }

    /// Whether the broker is about to drop messages, or has dropped some: it does not say how many.
    package func isOverflowing() async throws(AMQPError) -> Bool {
        let waiting = try await channel.declareQueue(
            AMQPQueueDeclaration(name: queue, passive: true), record: false
        ).messageCount
        return waiting >= Self.maxWaiting * 9 / 10
    }

    package func close() async { await channel.close() }
}
