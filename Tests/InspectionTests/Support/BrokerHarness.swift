import AMQP
import Foundation
import Logging
import Messages
import MessagingSupport
import SyncModel
import TestSupport

@testable import Inspection

/// What a shell does with a cluster's queues.
struct BrokerHarness: Sendable {
    let cluster: TestTopology
    var topology: Topology { cluster.topology }
    var slices: SliceCount { cluster.slices }
    var connection: AMQPConnection { cluster.connection }
    var channel: AMQPChannel { cluster.channel }

    static func with(_ body: (BrokerHarness) async throws -> Void) async throws {
        try await TestTopology.with("inspection") { try await body(BrokerHarness(cluster: $0)) }
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
        _ = try await deadLetters.visit(limit: 1000) { _, message in
            ids.append(message.properties.messageID ?? "-")
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
