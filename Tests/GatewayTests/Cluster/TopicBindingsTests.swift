import AMQP
import Foundation
import Messages
import MessagingSupport
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A storm of sessions against a broker.
@Suite(.needsBroker, .hangGuard) struct TopicBindingsTests {
    private static func open(_ name: String) async throws -> (TestTopology, AMQPChannel, String) {
        let shared = try await TestTopology.open(
            Topology(prefix: TestBroker.uniqueName(name)), slices: try #require(SliceCount(1)),
            amqp: try TestTopology.configuration())
        let channel = try await shared.connection.openChannel(prefetch: 500)
        let queue = shared.topology.gateway("g")
        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, durable: false, exclusive: true))
        return (shared, channel, queue)
    }

    private static func publish(_ key: String, _ shared: TestTopology) async throws {
        try await shared.channel.publish(AMQPMessage(body: [1]), exchange: shared.topology.realms, routingKey: key)
    }

    /// Takes what comes until the last key's message is there.
    private static func read(_ consumer: AMQPConsumer, of bindings: TopicBindings, to last: String) async throws
        -> [String]
    {
        var keys: [String] = []
        while let batch = try await consumer.nextBatch(max: 100) {
            keys += bindings.wanted(batch).map(\.routingKey)
            if let last = batch.last { try await consumer.ack(upTo: last) }
            if batch.contains(where: { $0.routingKey == last }) { break }
        }
        return keys
    }

    @Test func messagesAfterABindingAreHeardEvenInAStorm() async throws {
        let (shared, channel, queue) = try await Self.open("storm")
        let bindings = TopicBindings(queue: queue, exchange: shared.topology.realms, linger: .seconds(1))
        bindings.use(channel, generation: 1)
        let consumer = try await channel.consume(queue: queue)
        let keys = (0..<600).map { "app.\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys {
                group.addTask {
                    try await bindings.retain([key, "app.settings"])
                    try await Self.publish(key, shared)
                }
            }
            try await group.waitForAll()
        }
        expectEqual(bindings.counts.patterns, 1)
        // The pattern brings what nobody here wants: it is left out.
        try await Self.publish("app.foreign", shared)
        try await bindings.retain(["last"])
        try await Self.publish("last", shared)
        let heard = try await Self.read(consumer, of: bindings, to: "last")
        expectEqual(heard.sorted(), (keys + ["last"]).sorted())

        // Each key has its own binding in the end, and the pattern goes.
        var now: UInt64 = 0
        try await eventually("the pattern is gone") {
            now += 500
            bindings.sweep(at: now)
            return bindings.counts.patterns == 0
        }
        try await eventually("nobody is told of others' realms") {
            try await Self.publish("app.foreign", shared)
            for key in keys { try await Self.publish(key, shared) }
            try await Self.publish("last", shared)
            var foreign = false
            var count = 0
            while count < keys.count + 1, let batch = try await consumer.nextBatch(max: 100) {
                foreign = foreign || batch.contains { $0.routingKey == "app.foreign" }
                count += batch.count { $0.routingKey != "app.foreign" }
                if let last = batch.last { try await consumer.ack(upTo: last) }
            }
            return !foreign
        }
        await shared.close()
    }

    @Test func everythingIsBoundAgainOnceTheQueueIsDeclaredAnew() async throws {
        let (shared, channel, queue) = try await Self.open("renew")
        let bindings = TopicBindings(queue: queue, exchange: shared.topology.realms, linger: .seconds(1))
        bindings.use(channel, generation: 1)
        let keys = (0..<300).map { "app.\($0)" } + ["other.1"]
        for key in keys { try await bindings.retain([key]) }
        try await channel.deleteQueue(queue)
        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, durable: false, exclusive: true))
        let consumer = try await channel.consume(queue: queue)
        try await bindings.renew(on: 1)
        try await bindings.renew(on: 2)
        for key in keys { try await Self.publish(key, shared) }
        let heard = try await Self.read(consumer, of: bindings, to: "other.1")
        expectEqual(heard.sorted(), keys.sorted())
        await shared.close()
    }

    @Test func thoseWhoWaitAreToldWhenTheBrokerIsAway() async throws {
        let bindings = TopicBindings(queue: "q", exchange: "x")
        // Without a channel nothing can be bound.
        await #expect(throws: GatewayError.self) { try await bindings.retain(["app.1"]) }
        expectEqual(bindings.counts.keys, 1)
        bindings.sweep(at: 1 << 40)
        expectEqual(bindings.counts.keys, 0)
    }
}
