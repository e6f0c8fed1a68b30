import AMQP
import LocalCluster
import Logging
import Messages

/// Publishes a second time what was published to the slices, later than the original, as a publisher does that lost its
/// confirm.
struct Echo: Sendable {
    private static let maximum = 2000

    let amqpURL: String
    let topology: Topology
    let slices: Int
    let journal: Journal

    func duplicate(for duration: Duration) async throws {
        let connection = AMQPConnection(
            configuration: try AMQPConfiguration(url: amqpURL),
            logger: Logger(label: "fire.echo") { _ in SwiftLogNoOpLogHandler() })
        try await connection.start()
        do {
            let copies = try await collect(on: connection, for: duration)
            let channel = try await connection.openChannel(confirms: true)
            for copy in copies {
                try await channel.publish(copy.message, exchange: topology.slices, routingKey: copy.routingKey)
            }
            journal.note("\(copies.count) messages were published a second time")
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// A queue beside the slices' own is given a copy of everything; it is unbound before anything is repeated.
    private func collect(on connection: AMQPConnection, for duration: Duration) async throws -> [AMQPDelivery] {
        let channel = try await connection.openChannel()
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, arguments: ["x-max-length": .int(Int64(Self.maximum))]))
        for slice in 0..<slices {
            try await channel.bindQueue(queue.name, exchange: topology.slices, routingKey: "\(slice)")
        }
        try? await Task.sleep(for: duration)
        for slice in 0..<slices {
            try await channel.unbindQueue(queue.name, exchange: topology.slices, routingKey: "\(slice)")
        }
        var copies: [AMQPDelivery] = []
        while copies.count < Self.maximum, let copy = try await channel.get(queue: queue.name) { copies.append(copy) }
        return copies
    }
}
