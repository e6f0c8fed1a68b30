import AMQP
import TestSupport
import Testing

extension BrokerTests {
    /// What the client relies on when it publishes and answers, shown with the bare library.
    @Suite struct ConfirmFacts {
        @Test func returnComesBeforeTheConfirmThatDoesNotMeanRouted() async throws {
            let bare = try await BareClient()
            try await bare.confirm()
            try await bare.publish("lost", to: "no.such.queue", mandatory: true)
            try await bare.publish("dropped", to: "no.such.queue")
            let events = try await bare.next(2)
            expectEqual(events.first, .returned("lost"))
            // The two messages may be confirmed at once: the second one, too, is nowhere.
            if events.last == .ack(1, multiple: false) {
                try await expectEqual(bare.next(), .ack(2, multiple: false))
            } else {
                expectEqual(events.last, .ack(2, multiple: true))
            }
        }

        @Test func answerToAnUnknownDeliveryClosesTheChannel() async throws {
            let bare = try await BareClient()
            try await bare.ack(1)
            try await expectEqual(bare.next(), .closed(replyCode: 406))
        }

        @Test(.needsBrokerControl) func brokerIsToldThatWeListenForCancellationsAndAlarms() async throws {
            let name = TestBroker.uniqueName()
            var ours: [String] = []
            var others: [String] = []
            try await withConnection({ $0.connectionName = name }) { _ in
                let bare = try await BareClient()
                // The list lags behind.
                try await eventually {
                    let text = try await TestBroker.control("-q", "list_connections", "client_properties")
                    let lines = text.split(separator: "\n").map(String.init)
                    ours = lines.filter { $0.contains(name) }
                    others = lines.filter { !$0.contains("AMQP for Swift") && $0.contains("rabbitmq-c") }
                    return !ours.isEmpty && !others.isEmpty
                }
                // Until here it was connected.
                _ = try await bare.version()
            }
            expectEqual(ours.count, 1)
            expectTrue(ours.allSatisfy { $0.contains("{\"consumer_cancel_notify\",true}") })
            expectTrue(ours.allSatisfy { $0.contains("{\"connection.blocked\",true}") })
            // The library by itself asks for neither.
            expectTrue(others.allSatisfy { !$0.contains("consumer_cancel_notify") })
        }

        @Test func fullQuorumQueueThatRejectsPublishesRefusesThem() async throws {
            let arguments: AMQPTable = [
                "x-queue-type": "quorum", "x-max-length": 2, "x-overflow": "reject-publish",
            ]
            try await withQuorumQueue(arguments) { connection, channel, queue in
                let error = await failure { () throws(AMQPError) in
                    // The limit is soft by what is under way when it is reached.
                    for _ in 0..<200 { try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: queue) }
                }
                expectEqual(error?.code, .nacked)
                expectEqual(error?.isRetriable, true)
                // Room again, and the queue takes messages again.
                try await channel.purgeQueue(queue)
                try await eventually {
                    await channel.publish(batch: [(AMQPMessage("y"), exchange: "", routingKey: queue)])[0] == nil
                }
                expectTrue(connection.statistics.refused >= 1)
            }
        }
    }
}

/// A connection, a channel with confirms and a fresh quorum queue, which is deleted at the end.
func withQuorumQueue<Result>(
    _ arguments: AMQPTable = ["x-queue-type": "quorum"], name: String = #function,
    adjust: (inout AMQPConfiguration) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
    _ body: (AMQPConnection, AMQPChannel, String) async throws -> Result
) async throws -> Result {
    try await withConnection(adjust) { connection in
        let channel = try await connection.openChannel(confirms: true)
        let queue = TestBroker.uniqueName(name)
        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, arguments: arguments))
        do {
            let result = try await body(connection, channel, queue)
            try await channel.deleteQueue(queue)
            return result
        } catch {
            _ = try? await channel.deleteQueue(queue)
            throw error
        }
    }
}
