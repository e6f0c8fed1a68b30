import AMQP
import TestSupport
import Testing

extension BrokerTests {
    /// How a queue with a single active consumer changes hands: what the ownership of slices stands on.
    @Suite struct SingleActiveConsumerFacts {
        /// Ten messages, a consumer that holds the first five unanswered, and one that stands by.
        private func withHandOver(
            _ body: (
                _ active: AMQPConnection, _ channel: AMQPChannel, AMQPConsumer, _ held: [AMQPDelivery],
                _ standby: AMQPConsumer
            ) async throws -> Void
        ) async throws {
            let arguments: AMQPTable = ["x-queue-type": "quorum", "x-single-active-consumer": true]
            let name = TestBroker.uniqueName()
            try await withQuorumQueue(arguments) { connection, setup, queue in
                try await withConnection({ $0.connectionName = name }) { owner in
                    let channel = try await owner.openChannel(prefetch: 5)
                    let active = try await channel.consume(queue: queue)
                    let second = try await connection.openChannel(prefetch: 100)
                    let standby = try await second.consume(queue: queue)
                    let batch = (0..<10).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                    await expectTrue(setup.publish(batch: batch).allSatisfy { $0 == nil })
                    let held = try await active.take(5)
                    expectEqual(held.map(\.message.text), (0..<5).map(String.init))
                    expectEqual(standby.bufferedCount, 0)
                    try await body(owner, channel, active, held, standby)
                    await second.close()
                }
            }
        }

        @Test func afterACancellationTheNextIsSentLaterMessagesFirst() async throws {
            try await withHandOver { _, channel, active, _, standby in
                try await active.cancel()
                let first = try await standby.take(5)
                expectEqual(first.map(\.message.text), (5..<10).map(String.init))
                // What the first holds is still its own, until it is answered or given back.
                expectEqual(standby.bufferedCount, 0)
                await channel.close()
                let later = try await standby.take(5)
                expectEqual(Set(later.map(\.message.text)), Set((0..<5).map(String.init)))
                expectTrue(later.allSatisfy { $0.redelivered })
            }
        }

        @Test func cancelledConsumerCanStillAcknowledgeItsDeliveries() async throws {
            try await withHandOver { _, channel, active, held, standby in
                try await active.cancel()
                try await active.ack(upTo: held[4])
                let rest = try await standby.take(5)
                expectEqual(rest.map(\.message.text), (5..<10).map(String.init))
                // Nothing is left to be given back: no redelivery.
                await channel.close()
                try await standby.ack(upTo: rest[4])
                let setup = try await standby.channel.connection.openChannel()
                let left = try await setup.declareQueue(AMQPQueueDeclaration(name: standby.queue, passive: true))
                expectEqual(left.messageCount, 0)
                expectTrue(!rest.contains { $0.redelivered })
            }
        }

        @Test(arguments: [false, true])
        func closeWithoutACancellationKeepsTheOrder(ofTheConnection: Bool) async throws {
            try await withHandOver { connection, channel, _, _, standby in
                if ofTheConnection { await connection.close() } else { await channel.close() }
                let all = try await standby.take(10)
                expectEqual(all.map(\.message.text), (0..<10).map(String.init))
                expectEqual(all.map(\.redelivered), (0..<10).map { $0 < 5 })
            }
        }

        @Test func afterALossMessagesComeBackInOrder() async throws {
            let arguments: AMQPTable = ["x-queue-type": "quorum", "x-single-active-consumer": true]
            try await withQuorumQueue(arguments) { connection, setup, queue in
                var lost: BareClient? = try await BareClient()
                try await lost?.consume(queue, prefetch: 5)
                let standby = try await connection.openChannel(prefetch: 100).consume(queue: queue)
                let batch = (0..<10).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                await expectTrue(setup.publish(batch: batch).allSatisfy { $0 == nil })
                try await expectEqual(lost?.next(5).last, .delivered("4", tag: 5))
                // Without a word.
                lost = nil
                let all = try await standby.take(10)
                expectEqual(all.map(\.message.text), (0..<10).map(String.init))
                expectEqual(all.map(\.redelivered), (0..<10).map { $0 < 5 })
            }
        }

        @Test func consumerIsNotToldThatItHasBecomeActive() async throws {
            let arguments: AMQPTable = ["x-queue-type": "quorum", "x-single-active-consumer": true]
            try await withQuorumQueue(arguments) { connection, channel, queue in
                let active = try await connection.openChannel().consume(queue: queue)
                let bare = try await BareClient()
                try await bare.consume(queue, prefetch: 10)
                try await active.cancel()
                try await channel.publish(AMQPMessage("first"), exchange: "", routingKey: queue)
                // Whatever told it would have come before its first delivery.
                try await expectEqual(bare.next(), .delivered("first", tag: 1))
            }
        }

        @Test func deletedQueueCancelsTheActiveAndTheOneStandingBy() async throws {
            let arguments: AMQPTable = ["x-queue-type": "quorum", "x-single-active-consumer": true]
            try await withQuorumQueue(arguments) { connection, channel, queue in
                let active = try await connection.openChannel().consume(queue: queue)
                let standby = try await connection.openChannel().consume(queue: queue)
                try await channel.deleteQueue(queue)
                for consumer in [active, standby] {
                    let error = await failure { () throws(AMQPError) in _ = try await consumer.nextBatch(max: 1) }
                    expectEqual(error?.code, .consumerCancelled)
                }
            }
        }

        @Test func prioritiesDoNotCountBeforeRabbitMQ40() async throws {
            let arguments: AMQPTable = ["x-queue-type": "quorum", "x-single-active-consumer": true]
            try await withQuorumQueue(arguments) { connection, channel, queue in
                let preempts = try await BareClient().version() >= 400
                let first = try await connection.openChannel().consume(queue: queue)
                let better = try await connection.openChannel().consume(queue: queue, arguments: ["x-priority": 10])
                try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: queue)
                try await expectEqual((preempts ? better : first).take(1)[0].message.text, "x")
            }
        }

        @Test func exclusiveQueueProvesThatItsConnectionLives() async throws {
            try await withConnection { observer in
                let name = TestBroker.uniqueName()
                let channel = try await observer.openChannel()
                let ask = { () async -> AMQPError.Code? in
                    do throws(AMQPError) {
                        try await channel.declareQueue(AMQPQueueDeclaration(name: name, passive: true), record: false)
                        return nil
                    } catch {
                        return error.code
                    }
                }
                try await withConnection { owner in
                    let owned = try await owner.openChannel()
                    try await owned.declareQueue(AMQPQueueDeclaration(name: name, durable: false, exclusive: true))
                    // The queue exists, and is somebody else's: not "not found".
                    await expectEqual(ask(), .resourceLocked)
                }
                try await eventually { await ask() == .notFound }
            }
        }
    }
}
