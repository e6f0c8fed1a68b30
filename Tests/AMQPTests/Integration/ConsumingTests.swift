import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct ConsumingTests {
        private func fill(_ channel: AMQPChannel, _ queue: String, _ count: Int) async throws {
            let batch = (0..<count).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
            await expectTrue(channel.publish(batch: batch).allSatisfy { $0 == nil })
        }

        private func ready(_ channel: AMQPChannel, _ queue: String) async throws -> Int {
            try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true)).messageCount
        }

        @Test func deliveriesComeInOrderAndABatchIsAcknowledgedAtOnce() async throws {
            try await withQueue(prefetch: 50) { connection, channel, queue in
                try await fill(channel, queue, 200)
                let consumer = try await channel.consume(queue: queue)
                var texts: [String] = []
                while texts.count < 200, let batch = try await consumer.nextBatch(max: 20), let last = batch.last {
                    expectTrue(batch.count <= 20)
                    texts += batch.map(\.message.text)
                    try await consumer.ack(upTo: last)
                }
                expectEqual(texts, (0..<200).map(String.init))
                await channel.close()
                let again = try await connection.openChannel()
                try await expectEqual(ready(again, queue), 0)
            }
        }

        @Test func sequenceYieldsOneByOne() async throws {
            try await withQueue(prefetch: 2) { _, channel, queue in
                try await fill(channel, queue, 10)
                let consumer = try await channel.consume(queue: queue)
                var texts: [String] = []
                for try await delivery in consumer {
                    texts.append(delivery.message.text)
                    try await delivery.ack()
                    if texts.count == 10 { break }
                }
                expectEqual(texts, (0..<10).map(String.init))
            }
        }

        @Test func prefetchBoundsWhatIsBuffered() async throws {
            try await withQueue(prefetch: 7) { connection, channel, queue in
                try await fill(channel, queue, 100)
                let consumer = try await channel.consume(queue: queue)
                try await eventually { connection.statistics.delivered == 7 }
                let batch = try #require(try await consumer.nextBatch(max: 100))
                expectEqual(batch.count, 7)
                // A question on the same channel is answered after anything that was sent before.
                try await expectEqual(ready(channel, queue), 93)
                expectEqual(connection.statistics.delivered, 7)
                try await batch[0].ack()
                try await expectEqual(consumer.take(1).first?.message.text, "7")
            }
        }

        @Test func batchIsBoundedByBytes() async throws {
            try await withQueue { connection, channel, queue in
                for size in [10, 10, 10, 50] {
                    try await channel.publish(
                        AMQPMessage(body: Array(repeating: 1, count: size)), exchange: "", routingKey: queue)
                }
                let consumer = try await channel.consume(queue: queue)
                try await eventually { connection.statistics.delivered == 4 }
                // The count is published a moment after the deliveries of a turn.
                try await expectEqual(consumer.nextBatch(max: 100, maxBytes: 25)?.count, 2)
                try await expectEqual(consumer.nextBatch(max: 100, maxBytes: 25)?.count, 1)
                try await expectEqual(consumer.nextBatch(max: 100, maxBytes: 25)?.first?.message.body.count, 50)
            }
        }

        @Test func tagInUseIsRefusedAndItsConsumerGoesOn() async throws {
            try await withQueue { _, channel, queue in
                let consumer = try await channel.consume(queue: queue, tag: "taken")
                let error = await failure { () throws(AMQPError) in
                    _ = try await channel.consume(queue: queue, tag: "taken")
                }
                expectEqual(error?.code, .invalidArgument)
                try await fill(channel, queue, 1)
                try await expectEqual(consumer.take(1).first?.message.text, "0")
            }
        }

        @Test func tasksThatShareAConsumerEachTakeTheirShare() async throws {
            try await withQueue { _, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<5 { group.addTask { try await consumer.take(1)[0].message.text } }
                    // A task may be cancelled while it waits, without taking a delivery with it.
                    let cancelled = Task { try await consumer.nextBatch(max: 1) }
                    cancelled.cancel()
                    try await expectTrue(cancelled.value == nil)
                    try await fill(channel, queue, 5)
                    let texts = try await group.reduce(into: Set<String>()) { $0.insert($1) }
                    expectEqual(texts, ["0", "1", "2", "3", "4"])
                }
            }
        }

        @Test func acknowledgingUpToLeavesOtherConsumersAlone() async throws {
            try await withQueue { connection, channel, queue in
                let other = TestBroker.uniqueName()
                try await channel.declareQueue(AMQPQueueDeclaration(name: other, durable: false, exclusive: true))
                let left = try await channel.consume(queue: queue)
                let right = try await channel.consume(queue: other)
                for number in 0..<6 {
                    try await channel.publish(
                        AMQPMessage("\(number)"), exchange: "", routingKey: number.isMultiple(of: 2) ? queue : other)
                }
                let lefts = try await left.take(3)
                let rights = try await right.take(3)
                try await left.ack(upTo: lefts[2])
                try await right.ack(upTo: rights[0])
                await channel.close()
                let again = try await connection.openChannel()
                try await eventually { try await ready(again, other) == 2 }
                try await expectEqual(ready(again, queue), 0)
            }
        }

        @Test func answeringTwiceIsHarmless() async throws {
            try await withQueue { _, channel, queue in
                try await fill(channel, queue, 3)
                let consumer = try await channel.consume(queue: queue)
                let deliveries = try await consumer.take(3)
                try await deliveries[1].ack()
                try await deliveries[1].ack()
                try await deliveries[1].reject(requeue: true)
                try await consumer.ack(upTo: deliveries[2])
                try await consumer.ack(upTo: deliveries[2])
                // A second answer on the wire would have closed the channel.
                try await expectEqual(ready(channel, queue), 0)
                try await fill(channel, queue, 1)
                try await expectEqual(consumer.take(1).first?.redelivered, false)
            }
        }

        @Test func unacknowledgedDeliveryComesAgainAfterClose() async throws {
            try await withConnection { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = TestBroker.uniqueName()
                try await channel.declareQueue(
                    AMQPQueueDeclaration(name: queue, arguments: ["x-queue-type": "quorum"]))
                try await fill(channel, queue, 2)
                let first = try await connection.openChannel()
                let taken = try await first.consume(queue: queue).take(2)
                expectEqual(taken.map(\.redelivered), [false, false])
                expectTrue(taken[0].deliveryCount == nil)
                await first.close()
                let consumer = try await channel.consume(queue: queue)
                let again = try await consumer.take(2)
                expectEqual(again.map(\.message.text), ["0", "1"])
                expectEqual(again.map(\.redelivered), [true, true])
                expectEqual(again[0].deliveryCount, 1)
                // An answer to the delivery on the closed channel does nothing.
                try await taken[0].ack()
                try await channel.deleteQueue(queue)
            }
        }

        @Test func rejectedMessageGoesToTheDeadLetterExchange() async throws {
            let dead = TestBroker.uniqueName()
            let arguments: AMQPTable = ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": .string(dead)]
            try await withQueue(arguments: arguments) { _, channel, queue in
                try await channel.declareQueue(AMQPQueueDeclaration(name: dead, durable: false, exclusive: true))
                try await fill(channel, queue, 1)
                let deliveries = try await channel.consume(queue: queue)
                try await deliveries.take(1)[0].reject(requeue: false)
                let parked = try await channel.consume(queue: dead)
                let delivery = try await parked.take(1)[0]
                expectEqual(delivery.message.text, "0")
                guard case .array(let deaths) = delivery.message.properties.headers["x-death"],
                    case .table(let death)? = deaths.first
                else {
                    Issue.record("expected the history of the message in x-death")
                    return
                }
                expectEqual(death["reason"], "rejected")
                expectEqual(death["queue"], .string(queue))
            }
        }

        @Test func singleActiveConsumerIsReplacedWhenItCancels() async throws {
            try await withQueue(arguments: ["x-single-active-consumer": true]) { connection, channel, queue in
                let standbyChannel = try await connection.openChannel()
                let active = try await channel.consume(queue: queue)
                let standby = try await standbyChannel.consume(queue: queue)
                try await fill(channel, queue, 2)
                let deliveries = try await active.take(2)
                try await active.ack(upTo: deliveries[1])
                try await active.cancel()
                try await expectTrue(active.nextBatch(max: 1) == nil)
                try await fill(channel, queue, 1)
                let delivery = try await standby.take(1)[0]
                expectEqual(delivery.consumerTag, standby.tag)
            }
        }

        @Test func deliveriesBeforeACancellationCanStillBeTaken() async throws {
            try await withQueue { connection, channel, queue in
                try await fill(channel, queue, 3)
                let consumer = try await channel.consume(queue: queue)
                try await eventually { connection.statistics.delivered == 3 }
                try await consumer.cancel()
                try await consumer.cancel()
                let batch = try #require(try await consumer.nextBatch(max: 10))
                expectEqual(batch.count, 3)
                try await consumer.ack(upTo: batch[2])
                try await expectTrue(consumer.nextBatch(max: 10) == nil)
                try await expectEqual(ready(channel, queue), 0)
                // The tag is free again.
                let again = try await channel.consume(queue: queue, tag: consumer.tag)
                try await fill(channel, queue, 1)
                try await expectEqual(again.take(1).count, 1)
            }
        }

        @Test func droppedConsumerGivesBackWhatNobodyTook() async throws {
            try await withQueue { connection, channel, queue in
                try await fill(channel, queue, 3)
                var consumer: AMQPConsumer? = try await channel.consume(queue: queue)
                try await eventually { connection.statistics.delivered == 3 }
                expectTrue(consumer != nil)
                consumer = nil
                try await eventually { try await ready(channel, queue) == 3 }
            }
        }

        @Test func consumerEndsWithItsChannelAndWithItsTask() async throws {
            try await withQueue { _, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                let waiting = Task { try await consumer.nextBatch(max: 1) }
                waiting.cancel()
                try await expectTrue(waiting.value == nil)
                async let ended = consumer.nextBatch(max: 1)
                await channel.close()
                try await expectTrue(ended == nil)
                let error = await failure { () throws(AMQPError) in _ = try await channel.get(queue: queue) }
                expectEqual(error?.code, .closed)
            }
        }

        @Test func deletedQueueEndsItsConsumerWithAnError() async throws {
            try await withQueue { _, channel, queue in
                let other = TestBroker.uniqueName()
                try await channel.declareQueue(AMQPQueueDeclaration(name: other, durable: false, exclusive: true))
                let consumer = try await channel.consume(queue: queue)
                let unharmed = try await channel.consume(queue: other)
                try await channel.deleteQueue(queue)
                let error = await failure { () throws(AMQPError) in _ = try await consumer.nextBatch(max: 1) }
                expectEqual(error?.code, .consumerCancelled)
                try await channel.publish(AMQPMessage("on"), exchange: "", routingKey: other)
                try await expectEqual(unharmed.take(1).first?.message.text, "on")
            }
        }

        @Test func spooledDeliveriesWaitInTheFileAndComeWhole() async throws {
            try await withQueue { connection, channel, queue in
                let size = 4 << 20
                for index in 0..<12 {
                    let body = [UInt8](repeating: UInt8(index), count: size)
                    try await channel.publish(AMQPMessage(body: body), exchange: "", routingKey: queue, mandatory: true)
                }
                let spool = AMQPSpool(folder: "/var/tmp", maxHeldBytes: 3 * size)
                let reading = try await connection.openChannel(prefetch: 200)
                let consumer = try await reading.consume(queue: queue, spool: spool)
                try await eventually { consumer.bufferedCount == 12 }
                expectEqual(spool.statistics.held, 3 * size)
                expectEqual(spool.statistics.spooled, 9 * size)
                var seen: [UInt8] = []
                while seen.count < 12, let batch = try await consumer.nextBatch(max: 200, maxBytes: 2 * size) {
                    expectTrue(batch.count <= 2)
                    for delivery in batch {
                        let first = try #require(delivery.message.body.first)
                        expectTrue(
                            delivery.message.body.count == size && delivery.message.body.allSatisfy { $0 == first })
                        seen.append(first)
                    }
                    try await consumer.ack(upTo: batch[batch.count - 1])
                }
                expectEqual(seen, Array(0..<12))
                expectTrue(spool.statistics.held == 0 && spool.statistics.spooled == 0)
                await reading.close()
            }
        }
    }
}
