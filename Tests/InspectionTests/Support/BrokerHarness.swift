import AMQP
import Foundation
import Logging
import Messages
import TestSupport

@testable import Inspection

/// The cluster's exchanges and queues on the tests' broker, under a prefix of their own, and a shell's connection to it.
struct BrokerHarness: Sendable {
    let topology: Topology
    let slices: SliceCount
    let connection: AMQPConnection
    let channel: AMQPChannel

    static func with(_ body: (BrokerHarness) async throws -> Void) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var amqp = try AMQPConfiguration(url: try TestBroker.requireURL())
        amqp.connectTimeout = .seconds(60)
        amqp.requestTimeout = .seconds(60)
        let connection = AMQPConnection(configuration: amqp, logger: logger)
        try await connection.start()
        guard let slices = SliceCount(2) else { return }
        let topology = Topology(prefix: TestBroker.uniqueName("inspection"))
        let channel = try await connection.openChannel(confirms: true)
        try await TestBroker.declaring { try await topology.declareShared(on: channel, slices: slices) }
        let harness = BrokerHarness(topology: topology, slices: slices, connection: connection, channel: channel)
        let result: Result<Void, any Error>
        do { result = .success(try await body(harness)) } catch { result = .failure(error) }
        for queue in [topology.outcomes, topology.dead] + slices.all.map(topology.slice) {
            _ = try? await channel.deleteQueue(queue)
        }
        for exchange in [
            topology.slices, topology.terminations, topology.realms, topology.outcomes, topology.presence,
            topology.dead,
        ] { try? await channel.deleteExchange(exchange) }
        await connection.close()
        try result.get()
    }

    var deadLetters: DeadLetterQueue { DeadLetterQueue(connection: connection, topology: topology, slices: slices) }

    /// Buries a message as a worker does.
    func bury(_ id: String, app: String = "tasks", from queue: String? = nil, reason: String = "no such app")
        async throws
    {
        var message = AMQPMessage(body: #"{"app":"\#(app)"}"#)
        message.properties.type = "termination"
        message.properties.messageID = id
        message.properties.persistent = true
        message.properties.headers[DeadLetter.reasonHeader] = .string(reason)
        message.properties.headers[DeadLetter.queueHeader] = .string(queue ?? topology.slice(SliceNumber(1)))
        message.properties.headers[DeadLetter.appHeader] = .string(app)
        try await channel.publish(message, exchange: topology.dead, routingKey: "", mandatory: true)
    }

    /// The ids in the dead-letter queue, from its head.
    func buried() async throws -> [String] {
        var ids: [String] = []
        _ = try await deadLetters.visit(limit: 1000) { entry, _ in
            ids.append(entry.id ?? "-")
            return .kept
        }
        return ids
    }

    /// Consumes one message; a queue with a single active consumer cannot be fetched from.
    func take(from queue: String, rejecting: Bool = false) async throws -> AMQPMessage {
        let consumer = try await channel.consume(queue: queue)
        guard let delivery = try await consumer.nextBatch(max: 1)?.first else {
            throw TestBrokerError("the consumer of \(queue) ended")
        }
        if rejecting { try await delivery.reject(requeue: false) } else { try await delivery.ack() }
        try await consumer.cancel()
        return delivery.message
    }

    func count(_ queue: String) async throws -> Int {
        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false).messageCount
    }
}

/// Polls until it holds; the suite's time limit ends it otherwise.
func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(20)) }
}
