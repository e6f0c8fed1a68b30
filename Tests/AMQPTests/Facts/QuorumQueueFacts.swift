import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct QuorumQueueFacts {
        @Test func unlimitedPrefetchIsTwoThousand() async throws {
            try await withQuorumQueue { _, channel, queue in
                let batch = (0..<2_200).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                await expectTrue(channel.publish(batch: batch).allSatisfy { $0 == nil })
                let bare = try await BareClient()
                try await bare.consume(queue, prefetch: 0)
                let events = try await bare.next(2_000)
                expectEqual(events.last, .delivered("1999", tag: 2_000))
                // The next one comes for an answer, and only then: the queue still has the rest, once a broker that is busy
                // says so.
                try await eventually {
                    try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true)).messageCount == 200
                }
                try await bare.ack(1)
                try await expectEqual(bare.next(), .delivered("2000", tag: 2_001))
            }
        }

        @Test(.needsBrokerControl)
        func deadLettersAreKeptUntilTheyArriveOnlyWithBothArguments() async throws {
            // Nothing is bound to the exchange, so the dead letter cannot arrive.
            let exchange = TestBroker.uniqueName("dlx")
            let safe: AMQPTable = [
                "x-queue-type": "quorum", "x-dead-letter-exchange": .string(exchange),
                "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
            ]
            var unsafe = safe
            unsafe["x-overflow"] = nil
            try await withQuorumQueue(safe, name: "safe") { _, channel, kept in
                try await channel.declareExchange(exchange, type: .fanout, durable: false, autoDelete: true)
                try await withQuorumQueue(unsafe, name: "unsafe") { _, _, dropped in
                    for queue in [kept, dropped] {
                        try await channel.publish(AMQPMessage("poison"), exchange: "", routingKey: queue)
                        try await channel.consume(queue: queue).take(1)[0].reject(requeue: false)
                    }
                    // The broker's figures are a few seconds old: wait until neither is delivered any more.
                    try await eventually {
                        let counts = try await Self.counts([kept, dropped])
                        return counts[kept] == [1, 0, 0] && counts[dropped] == [0, 0, 0]
                    }
                }
            }
        }

        /// All messages, those ready and those delivered.
        private static func counts(_ queues: [String]) async throws -> [String: [Int]] {
            let lines = try await TestBroker.control(
                "-q", "list_queues", "--no-table-headers", "name", "messages", "messages_ready",
                "messages_unacknowledged")
            var result: [String: [Int]] = [:]
            for line in lines.split(separator: "\n") {
                let fields = line.split(separator: "\t")
                if fields.count == 4, queues.contains(String(fields[0])) {
                    result[String(fields[0])] = fields.dropFirst().compactMap { Int($0) }
                }
            }
            return result
        }
    }
}
