import AMQP
import Changesets
import Foundation
import MessagingSupport
import SyncModel
import TestSupport
import Testing

@testable import Inspection
@testable import Messages

@Suite(.hangGuard) struct FeedPlanTests {
    private func plan(
        _ topology: Topology, keep: Int64 = 60_000, class className: ByteString? = nil, isStream: Bool = false
    ) -> FeedPlan {
        FeedPlan(
            name: "warehouse", app: "tasks", className: className, keep: keep, maxBytes: 1 << 20, isStream: isStream,
            topology: topology, virtualHost: "/")
    }

    private func host(_ plan: FeedPlan) -> BrokerFacts.VirtualHost {
        BrokerFacts.VirtualHost(
            exchanges: [],
            queues: plan.queues.map { .init(name: $0.name, arguments: .init($0.arguments)) },
            bindings: plan.bindings.map {
                .init(source: $0.exchange, destination: $0.queue, routing_key: $0.routingKey)
            },
            policies: [])
    }

    @Test func aFeedsUserReadsItsQueuesAlone() throws {
        let plan = plan(Topology())
        for name in ["sluice.feed.warehouse", "sluice.feed.warehouse.lost"] {
            expectTrue(plan.permissions.read.matches(name))
        }
        let others = [
            "sluice.feed.warehouse2", "sluice.feed.other", "sluice.changes", "sluice.slice.0", "xsluice.feed.warehouse",
            "amq.default", "",
        ]
        for name in others { expectTrue(!plan.permissions.read.matches(name), "\(name)") }
        for name in others + ["sluice.feed.warehouse"] {
            expectTrue(!plan.permissions.write.matches(name) && !plan.permissions.configure.matches(name), "\(name)")
        }
        let definitions = BrokerDefinitions(plan, password: "a password that is long")
        let text = String(decoding: try JSONEncoder().encode(definitions), as: UTF8.self)
        expectTrue(text.contains("sluice-feed-warehouse") && !text.contains("a password"))
        expectEqual(definitions.changes, ["2 queues", "1 binding", "user sluice-feed-warehouse"])
        expectTrue(
            FeedPlan.isName("a-b_1") && !FeedPlan.isName("a.lost") && !FeedPlan.isName("") && !FeedPlan.isName("A"))
    }

    @Test func aFeedIsKnownByItsQueueAndBindings() throws {
        let plan = plan(Topology(), class: "Task")
        let found = FoundFeed(name: "warehouse", keys: ["tasks.%.*", "tasks.Task.*"], keep: 60_000, maxBytes: 1 << 20)
        expectEqual(FoundFeed.all(in: host(plan), Topology()), [found])
        var stream = found
        stream.isStream = true
        expectEqual(
            FoundFeed.all(in: host(self.plan(Topology(), class: "Task", isStream: true)), Topology()), [stream])
    }

    @Test func aFeedWhoseQueueWasDeletedIsNotOneThatNeverWas() {
        var host = host(plan(Topology()))
        expectTrue(!FoundFeed.isBroken("warehouse", in: host, Topology()))
        host.queues.removeAll { $0.name == "sluice.feed.warehouse" }
        expectTrue(FoundFeed.isBroken("warehouse", in: host, Topology()))
        expectTrue(!FoundFeed.isBroken("other", in: host, Topology()))
    }

    @Test func aStreamKeepsWhatWasReadAndGivesItToEachReader() async throws {
        try await TestTopology.with("stream") { opened in
            let plan = plan(opened.topology, keep: 600_000, class: "Task", isStream: true)
            for queue in plan.queues { try await opened.channel.declareQueue(queue.declaration) }
            for binding in plan.bindings {
                try await opened.channel.bindQueue(
                    binding.queue, exchange: binding.exchange, routingKey: binding.routingKey)
            }
            for number in 0..<5 {
                try await opened.channel.publish(
                    AMQPMessage(body: Array("\(number)".utf8)), exchange: opened.topology.changes,
                    routingKey: Topology.changeKey(app: "tasks", class: "Task", operation: "insert"))
            }
            // Twice all of them, and then those from an offset on, each as it was told.
            for (offset, expected) in [(AMQPValue.string("first"), 0), (.string("first"), 0), (.int(3), 3)] {
                let channel = try await opened.connection.openChannel(prefetch: 10)
                let consumer = try await channel.consume(
                    queue: opened.topology.feed("warehouse"), arguments: ["x-stream-offset": offset])
                var read: [String] = []
                var offsets: [Int64?] = []
                while read.count < 5 - expected, let batch = try await consumer.nextBatch(max: 10) {
                    for delivery in batch {
                        read.append(String(decoding: delivery.message.body, as: UTF8.self))
                        offsets.append(delivery.message.properties.headers["x-stream-offset"]?.intValue)
                    }
                    if let last = batch.last { try await consumer.ack(upTo: last) }
                }
                expectEqual(read, (expected..<5).map { "\($0)" })
                expectEqual(offsets, (expected..<5).map { Int64($0) })
                await channel.close()
            }
            for queue in plan.queues { _ = try await opened.channel.deleteQueue(queue.name) }
        }
    }

    @Test func whatIsTooOldLeavesAWordBehind() async throws {
        try await TestTopology.with("feed") { opened in
            let plan = plan(opened.topology, keep: 100, class: "Task")
            defer { withExtendedLifetime(plan) {} }
            for queue in plan.queues { try await opened.channel.declareQueue(queue.declaration) }
            for binding in plan.bindings {
                try await opened.channel.bindQueue(
                    binding.queue, exchange: binding.exchange, routingKey: binding.routingKey)
            }
            func publish(_ className: ByteString) async throws {
                try await opened.channel.publish(
                    AMQPMessage(body: Array("{}".utf8)), exchange: opened.topology.changes,
                    routingKey: Topology.changeKey(app: "tasks", class: className, operation: "insert"))
            }
            func waiting(_ queue: String) async throws -> Int {
                try await opened.channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false)
                    .messageCount
            }
            try await publish("Other")
            for _ in 0..<3 { try await publish("Task") }
            // The last of those that went stays, and none of another class has come.
            try await eventually {
                let lost = try await waiting(opened.topology.lostOfFeed("warehouse"))
                let left = try await waiting(opened.topology.feed("warehouse"))
                return lost == 1 && left == 0
            }
            for queue in plan.queues { _ = try await opened.channel.deleteQueue(queue.name) }
        }
    }
}
