import AMQP
import Changesets
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// What the broker keeps for somebody who follows an app, and how the follower learns that it is not all.
@Suite(.needsBroker, .hangGuard) struct ChangeTapTests {
    private func publish(_ numbers: Range<Int>, bytes: Int, _ broker: BrokerHarness) async throws {
        for number in numbers {
            var message = AMQPMessage(body: Array(repeating: UInt8(ascii: "x"), count: bytes))
            message.properties.messageID = "\(number)"
            try await broker.channel.publish(
                message, exchange: broker.topology.changes,
                routingKey: Topology.changeKey(app: "tasks", class: "Task", operation: "insert"))
        }
    }

    @Test func aQueueThatTakesTooManyBytesLosesTheOldestAndSaysSo() async throws {
        try await BrokerHarness.with { broker in
            func open(_ maxBytes: Int64) async throws -> ChangeTap {
                try #require(
                    try await ChangeTap.open(
                        on: broker.connection, topology: broker.topology, app: "tasks", class: "Task",
                        maxBytes: maxBytes))
            }
            let (small, large) = (try await open(10_000), try await open(100_000))
            try await publish(0..<5, bytes: 1_000, broker)
            for tap in [small, large] { try await expectTrue(!tap.hasLost()) }
            try await publish(5..<20, bytes: 1_000, broker)
            try await eventually { try await small.hasLost() }
            try await expectEqual(small.waiting(), 10)
            try await expectEqual(large.waiting(), 20)
            try await expectTrue(!large.hasLost())
            let consumer = try await small.consume()
            let first = try #require(try await consumer.nextBatch(max: 1)?.first)
            expectEqual(first.message.properties.messageID, "10")
            // Nobody else hears of what went.
            try await expectEqual(broker.count(broker.topology.outcomes), 0)
            await small.close()
            await large.close()
            for queue in [small.queue, large.queue] {
                await #expect(throws: AMQPError.self) { _ = try await broker.count(queue) }
            }
        }
    }

    @Test func whoReadsInTimeLosesNothing() async throws {
        try await BrokerHarness.with { broker in
            let tap = try #require(
                try await ChangeTap.open(
                    on: broker.connection, topology: broker.topology, app: "tasks", class: nil, maxBytes: 10_000))
            let consumer = try await tap.consume()
            var read: [String] = []
            for start in stride(from: 0, to: 40, by: 5) {
                try await publish(start..<start + 5, bytes: 1_000, broker)
                while read.count < start + 5, let batch = try await consumer.nextBatch(max: 5) {
                    read += batch.compactMap(\.message.properties.messageID)
                    if let last = batch.last { try await consumer.ack(upTo: last) }
                }
            }
            expectEqual(read, (0..<40).map(String.init))
            try await expectTrue(!tap.hasLost())
            await tap.close()
        }
    }
}
