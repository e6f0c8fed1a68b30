import AMQP
import Foundation
import Messages
import MessagingSupport
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// What owners send ahead of the sessions' reading.
@Suite(.needsBroker, .hangGuard) struct GatewayInboxTests {
    @Test func takesMemoryByBytesAndNotByMessages() async throws {
        let shared = try await TestTopology.open(
            Topology(prefix: TestBroker.uniqueName("inbox")), slices: try #require(SliceCount(1)),
            amqp: try TestTopology.configuration())
        let apps = AppDirectory(store: try await SQLiteStores.inMemory().control())
        let accounts = try await SQLiteStores.inMemory().control()
        let watch = AppWatch(apps: apps, store: accounts, interval: .seconds(60), logger: TestTopology.logger)
        let name = shared.topology.gateway("g")
        let inbox = ClusterInbox(
            gateway: "g", watch: watch, requests: RequestTable(limit: 1), apps: apps,
            fans: FlexibleFans(clock: TestClock().clock), recent: RecentVersions(bytes: 1 << 20), keysChanged: {},
            clock: TestClock().clock,
            metrics: GatewayMetrics(), logger: TestTopology.logger)
        var limits = GatewayLimits()
        limits.heldBytes = 1 << 20
        let spool = AMQPSpool(folder: FileManager.default.temporaryDirectory.path, maxHeldBytes: limits.heldBytes)
        let queue = GatewayQueue(
            name: name, channel: try await shared.connection.openChannel(prefetch: limits.prefetch),
            bindings: TopicBindings(queue: name, exchange: shared.topology.realms), inbox: inbox, spool: spool,
            limits: limits, logger: TestTopology.logger)
        try await queue.declare()
        let consumer = try await queue.consume()
        let (count, size) = (40, 256 << 10)
        for _ in 0..<count {
            try await shared.channel.publish(
                AMQPMessage(body: Array(repeating: 7, count: size)), exchange: "", routingKey: name)
        }
        try await eventually("everything has come") {
            spool.statistics.held + spool.statistics.spooled == count * size
        }
        expectTrue(spool.statistics.held <= limits.heldBytes)
        let reading = Task { try await queue.read(consumer) }
        try await eventually("everything was handed out") { spool.statistics.held + spool.statistics.spooled == 0 }
        await shared.close()
        _ = try? await reading.value
    }
}
