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
    private func plan(_ topology: Topology, keep: Int64 = 60_000, class className: ByteString? = nil) -> FeedPlan {
        FeedPlan(
            name: "warehouse", app: "tasks", className: className, keep: keep, maxBytes: 1 << 20, topology: topology,
            virtualHost: "/")
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
        let host = BrokerFacts.VirtualHost(
            exchanges: [],
            queues: plan.queues.map { .init(name: $0.name, arguments: .init($0.arguments)) },
            bindings: plan.bindings.map {
                .init(source: $0.exchange, destination: $0.queue, routing_key: $0.routingKey)
            },
            policies: [])
        expectEqual(
            FoundFeed.all(in: host, Topology()),
            [FoundFeed(name: "warehouse", keys: ["tasks.%.*", "tasks.Task.*"], keep: 60_000, maxBytes: 1 << 20)])
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
