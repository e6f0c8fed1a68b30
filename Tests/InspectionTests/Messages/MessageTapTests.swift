import AMQP
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite(.needsBroker, .hangGuard) struct MessageTapTests {
    @Test func everyExchangeIsHeardAndNoQueueLosesAnything() async throws {
        try await BrokerHarness.with { broker in
            let tap = try await MessageTap.open(
                on: broker.connection, topology: broker.topology, slices: broker.slices, includesPresence: false)
            let topology = broker.topology
            let published: [(String, String)] = [
                (topology.slices, "0"), (topology.slices, "1"), (topology.events, "1"), (topology.terminations, ""),
                (topology.realms, "tasks.settings"), (topology.outcomes, ""), (topology.dead, ""),
                (topology.presence, ""),
            ]
            for (exchange, key) in published {
                try await broker.channel.publish(AMQPMessage(body: "x"), exchange: exchange, routingKey: key)
            }
            var heard: [String] = []
            while heard.count < published.count - 1, let batch = try await tap.consumer.nextBatch(max: 10) {
                heard += batch.map(\.exchange)
                if let last = batch.last { try await tap.consumer.ack(upTo: last) }
            }
            expectEqual(heard.sorted(), published.map(\.0).filter { $0 != topology.presence }.sorted())
            // The termination is in both slices' queues.
            for slice in broker.slices.all {
                try await eventually {
                    try await broker.count(topology.slice(slice)) == 2 + (slice.value == 1 ? 1 : 0)
                }
            }
            try await eventually { try await broker.count(topology.dead) == 1 }
            try await expectTrue(!tap.isOverflowing())
            await tap.close()
        }
    }
}
