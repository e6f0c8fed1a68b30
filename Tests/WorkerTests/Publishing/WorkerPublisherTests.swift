import AMQP
import Messages
import MessagingSupport
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// What reaches the queues of those who follow an app where the broker turns down a change.
@Suite(.needsBroker, .hangGuard) struct WorkerPublisherTests {
    private func change(_ className: String, _ id: String) -> Publication {
        var message = AMQPMessage(body: Array("{}".utf8))
        message.properties.messageID = id
        return Publication(.changes(key: "tasks.\(className).insert"), message)
    }

    private func read(_ queue: String, _ count: Int, on channel: AMQPChannel) async throws -> [String] {
        let consumer = try await channel.consume(queue: queue)
        var ids: [String] = []
        while ids.count < count, let batch = try await consumer.nextBatch(max: 16) {
            ids += batch.compactMap(\.message.properties.messageID)
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
        try await consumer.cancel()
        return ids
    }

    @Test func aChangeThatIsTurnedDownComesAgainWithAllThatAreBehindIt() async throws {
        try await TestTopology.with("publisher") { opened in
            let (topology, channel) = (opened.topology, opened.channel)
            let all = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
            // A queue that takes one message and turns others down.
            let full = try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: "", exclusive: true, arguments: ["x-max-length": 1, "x-overflow": "reject-publish"])
            ).name
            try await channel.bindQueue(all, exchange: topology.changes, routingKey: "tasks.#")
            try await channel.bindQueue(full, exchange: topology.changes, routingKey: "tasks.Full.*")
            try await channel.publish(AMQPMessage(body: "x"), exchange: "", routingKey: full, mandatory: true)
            let publisher = WorkerPublisher(
                channel: channel, topology: topology, metrics: WorkerMetrics(), logger: TestTopology.logger)
            let tries = Mutex(0)
            try await publisher.publish(
                [
                    change("Task", "1"), change("Full", "2"), change("Task", "3"),
                    Publication(.outcomes, AMQPMessage(body: "o")), change("Task", "4"),
                ]
            ) { _ in
                // There is room the third time.
                if tries.withLock({
                    $0 += 1
                    return $0
                }) == 2 {
                    _ = try? await read(full, 1, on: channel)
                }
                return false
            }
            expectEqual(tries.withLock { $0 }, 2)
            // Nothing overtakes the one that was turned down any more, until the broker has taken it.
            try await expectEqual(read(all, 8, on: channel), ["1", "2", "3", "4", "2", "2", "3", "4"])
            try await expectEqual(read(full, 1, on: channel), ["2"])
            let reports = try await channel.declareQueue(
                AMQPQueueDeclaration(name: topology.outcomes, passive: true), record: false)
            expectEqual(reports.messageCount, 1)
        }
    }

    @Test func behindABrokerThatMayFailNoChangeOvertakesAnother() async throws {
        try await TestTopology.with("publisher") { opened in
            let (topology, channel) = (opened.topology, opened.channel)
            let all = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
            let full = try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: "", exclusive: true, arguments: ["x-max-length": 1, "x-overflow": "reject-publish"])
            ).name
            try await channel.bindQueue(all, exchange: topology.changes, routingKey: "tasks.#")
            try await channel.bindQueue(full, exchange: topology.changes, routingKey: "tasks.Full.*")
            try await channel.publish(AMQPMessage(body: "x"), exchange: "", routingKey: full, mandatory: true)
            let publisher = WorkerPublisher(
                channel: channel, topology: topology, metrics: WorkerMetrics(), logger: TestTopology.logger)
            let isFirst = try await publisher.publish(
                [change("Full", "1")] + (2...9).map { change("Task", "\($0)") }, isCareful: true
            ) { _ in
                _ = try? await read(full, 1, on: channel)
                return false
            }
            expectTrue(!isFirst)
            try await expectEqual(read(all, 10, on: channel), ["1"] + (1...9).map(String.init))
            try await expectTrue(publisher.publish([change("Task", "10")], isCareful: true) { _ in true })
        }
    }

    @Test func whoStopsPublishingLeavesTheRestToTheNextOwner() async throws {
        try await TestTopology.with("publisher") { opened in
            let (topology, channel) = (opened.topology, opened.channel)
            let full = try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: "", exclusive: true, arguments: ["x-max-length": 1, "x-overflow": "reject-publish"])
            ).name
            try await channel.bindQueue(full, exchange: topology.changes, routingKey: "#")
            try await channel.publish(AMQPMessage(body: "x"), exchange: "", routingKey: full, mandatory: true)
            let publisher = WorkerPublisher(
                channel: channel, topology: topology, metrics: WorkerMetrics(), logger: TestTopology.logger)
            let error = await #expect(throws: WorkerError.self) {
                try await publisher.publish([change("Task", "1")]) { _ in true }
            }
            expectEqual(error?.code, .stopping)
        }
    }
}
