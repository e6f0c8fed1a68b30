package import AMQP
package import Logging
package import Messages
package import SyncModel
import TestSupport

/// A cluster's exchanges and queues on the tests' broker, under a prefix that no other test uses, and a connection to them.
package struct TestTopology: Sendable {
    package let topology: Topology
    package let slices: SliceCount
    package let amqp: AMQPConfiguration
    package let connection: AMQPConnection
    /// Publishes with confirms.
    package let channel: AMQPChannel

    /// The tests' broker, with time for what a busy machine takes long to do.
    package static func configuration() throws -> AMQPConfiguration {
        var amqp = try AMQPConfiguration(url: try TestBroker.requireURL())
        amqp.connectTimeout = .seconds(60)
        amqp.requestTimeout = .seconds(60)
        return amqp
    }

    package static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Connects and declares everything.
    package static func open(
        _ topology: Topology, slices: SliceCount, amqp: AMQPConfiguration, prefetch: Int = 256
    ) async throws -> TestTopology {
        let connection = AMQPConnection(configuration: amqp, logger: logger)
        try await connection.start()
        let channel = try await connection.openChannel(prefetch: prefetch, confirms: true)
        try await TestBroker.declaring { try await topology.declareShared(on: channel, slices: slices) }
        return TestTopology(topology: topology, slices: slices, amqp: amqp, connection: connection, channel: channel)
    }

    /// Deletes everything that was declared, and disconnects.
    package func close() async {
        for queue in [topology.outcomes, topology.dead] + slices.all.map(topology.slice) {
            _ = try? await channel.deleteQueue(queue)
        }
        for exchange in [
            topology.slices, topology.terminations, topology.realms, topology.outcomes, topology.presence,
            topology.dead, topology.changes, topology.events,
        ] { try? await channel.deleteExchange(exchange) }
        await connection.close()
    }

    /// Runs `body` with a topology of its own.
    ///
    /// - Parameters:
    ///   - name: begins the prefix of every exchange and queue.
    ///   - prefetch: deliveries that a consumer on `channel` may hold.
    package static func with<Value>(
        _ name: String, slices count: Int = 2, prefetch: Int = 256, _ body: (TestTopology) async throws -> Value
    ) async throws -> Value {
        guard let slices = SliceCount(count) else { throw TestBrokerError("no cluster has \(count) slices") }
        let opened = try await open(
            Topology(prefix: TestBroker.uniqueName(name)), slices: slices, amqp: try configuration(), prefetch: prefetch
        )
        let result: Result<Value, any Error>
        do { result = .success(try await body(opened)) } catch { result = .failure(error) }
        await opened.close()
        return try result.get()
    }
}
