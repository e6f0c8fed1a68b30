import AMQP
import TestSupport
import Testing

extension BrokerTests {
    /// What a quorum queue counts as a failed delivery, and what it does when there were too many.
    @Suite struct DeliveryLimitFacts {
        private static let limit: Int64 = 2

        private func withLimitedQueue(
            _ body: (AMQPConnection, AMQPChannel, _ queue: String, _ dead: AMQPConsumer) async throws -> Void
        ) async throws {
            let dead = TestBroker.uniqueName()
            let arguments: AMQPTable = [
                "x-queue-type": "quorum", "x-delivery-limit": .int(Self.limit), "x-dead-letter-exchange": "",
                "x-dead-letter-routing-key": .string(dead),
            ]
            try await withQuorumQueue(arguments) { connection, channel, queue in
                try await channel.declareQueue(AMQPQueueDeclaration(name: dead, durable: false, exclusive: true))
                let parked = try await channel.consume(queue: dead)
                try await channel.publish(AMQPMessage("poison"), exchange: "", routingKey: queue)
                try await body(connection, channel, queue, parked)
            }
        }

        private func requireDead(_ dead: AMQPConsumer) async throws {
            let delivery = try await dead.take(1)[0]
            expectEqual(delivery.message.text, "poison")
            guard case .array(let deaths) = delivery.message.properties.headers["x-death"],
                case .table(let death)? = deaths.first
            else {
                Issue.record("expected the history of the message in x-death")
                return
            }
            expectEqual(death["reason"], "delivery_limit")
        }

        @Test func rejectWithRequeueCounts() async throws {
            try await withLimitedQueue { _, channel, queue, dead in
                let consumer = try await channel.consume(queue: queue)
                var counts: [Int?] = []
                for _ in 0...Self.limit {
                    let delivery = try await consumer.take(1)[0]
                    counts.append(delivery.deliveryCount)
                    try await delivery.reject(requeue: true)
                }
                expectEqual(counts, [nil, 1, 2])
                try await requireDead(dead)
            }
        }

        @Test func negativeAcknowledgementCountsBeforeRabbitMQ43() async throws {
            try await withLimitedQueue { _, _, queue, dead in
                let bare = try await BareClient()
                let counts = try await bare.version() < 403
                try await bare.consume(queue, prefetch: 1)
                for number in 1...UInt64(Self.limit) + 1 {
                    try await expectEqual(bare.next(), .delivered("poison", tag: number))
                    try await bare.nack(number)
                }
                if counts {
                    try await requireDead(dead)
                } else {
                    try await expectEqual(bare.next(), .delivered("poison", tag: UInt64(Self.limit) + 2))
                }
            }
        }

        @Test func lostConnectionsCount() async throws {
            try await withLimitedQueue { _, _, queue, dead in
                for _ in 0...Self.limit {
                    let bare = try await BareClient()
                    try await bare.consume(queue, prefetch: 1)
                    try await expectEqual(bare.next(), .delivered("poison", tag: 1))
                    // The client goes without a word here.
                }
                try await requireDead(dead)
            }
        }

        @Test func closedChannelsCount() async throws {
            try await withLimitedQueue { connection, _, queue, dead in
                for _ in 0...Self.limit {
                    let channel = try await connection.openChannel()
                    _ = try await channel.consume(queue: queue).take(1)
                    await channel.close()
                }
                try await requireDead(dead)
            }
        }

        @Test func expiredMessagesAreDeadLettered() async throws {
            let dead = TestBroker.uniqueName()
            let arguments: AMQPTable = [
                "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": .string(dead),
            ]
            try await withQuorumQueue(arguments) { _, channel, queue in
                try await channel.declareQueue(AMQPQueueDeclaration(name: dead, durable: false, exclusive: true))
                let parked = try await channel.consume(queue: dead)
                try await channel.publish(
                    AMQPMessage(body: "old", properties: AMQPProperties(expiration: "1")), exchange: "",
                    routingKey: queue)
                try await expectEqual(parked.take(1)[0].message.text, "old")
            }
        }
    }
}
