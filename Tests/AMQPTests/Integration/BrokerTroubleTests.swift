import AMQP
import Synchronization
import TestSupport
import Testing

/// What hurts everybody who uses a broker: it has one of its own, and one test runs at a time.
@Suite(.needsBrokerControl, .hangGuard, .serialized, .ownBroker())
struct BrokerTroubleTests {
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    @Test func everyConnectionComesBackWhenAllAreClosed() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ready = Counter()
            for number in 0..<8 {
                group.addTask {
                    try await withQueue("all\(number)") { connection, channel, queue in
                        let consumer = try await channel.consume(queue: queue)
                        ready.count.withLock { $0 += 1 }
                        try await eventually { connection.isConnected(sinceGeneration: 2) }
                        try await channel.publish(
                            AMQPMessage("\(number)"), exchange: "", routingKey: queue, mandatory: true)
                        try await expectEqual(consumer.take(1)[0].message.text, "\(number)")
                    }
                }
            }
            try await eventually { ready.count.withLock { $0 } == 8 }
            try await TestBroker.control("-q", "close_all_connections", "test")
            try await group.waitForAll()
        }
    }

    @Test func blockedPublishersWaitAndAreToldWhyWhileConsumersGoOn() async throws {
        try await withQueue { connection, channel, queue in
            try await withConnection { consuming in
                let other = TestBroker.uniqueName("other")
                let reading = try await consuming.openChannel()
                try await reading.declareQueue(AMQPQueueDeclaration(name: other, durable: false, exclusive: false))
                let waiting = (0..<3).map { (AMQPMessage("\($0)"), exchange: "", routingKey: other) }
                await expectTrue(channel.publish(batch: waiting).allSatisfy { $0 == nil })
                let later = try await withBroker(
                    set: ["set_vm_memory_high_watermark", "absolute", "1MB"],
                    back: ["set_vm_memory_high_watermark", "absolute", "2GB"]
                ) {
                    let error = await blocked(channel, queue)
                    expectEqual(error.code, .blocked)
                    expectTrue(error.isRetriable)
                    if case .blocked(let reason) = connection.state {
                        expectTrue(reason.contains("memory"))
                    } else {
                        Issue.record("expected the state to be blocked, not \(connection.state)")
                    }
                    // The connection that only consumes is not blocked.
                    let consumer = try await reading.consume(queue: other)
                    let deliveries = try await consumer.take(3)
                    try await consumer.ack(upTo: deliveries[2])
                    let left = try await reading.declareQueue(AMQPQueueDeclaration(name: other, passive: true))
                    expectEqual(left.messageCount, 0)
                    expectEqual(consuming.state, .connected(generation: 1))
                    return Task {
                        try await channel.publish(AMQPMessage("later"), exchange: "", routingKey: queue, timeout: nil)
                    }
                }
                try await later.value
                expectEqual(connection.state, .connected(generation: 1))
                try await reading.deleteQueue(other)
            }
        }
    }

    /// Publishes until the broker has noticed the alarm, which it does at its next look at the memory, and has said so.
    private func blocked(_ channel: AMQPChannel, _ queue: String) async -> AMQPError {
        while true {
            do throws(AMQPError) {
                try await channel.publish(
                    AMQPMessage("x"), exchange: "", routingKey: queue, timeout: .milliseconds(300))
            } catch {
                // A busy machine may not confirm one in time before the broker blocks.
                if error.code != .timeout { return error }
            }
        }
    }

    /// Has the broker so for the length of `body`.
    private func withBroker<Result>(
        set: [String], back: [String], _ body: () async throws -> Result
    ) async throws -> Result {
        try await TestBroker.control(["-q"] + set)
        do {
            let result = try await body()
            try await TestBroker.control(["-q"] + back)
            return result
        } catch {
            try await TestBroker.control(["-q"] + back)
            throw error
        }
    }

    @Test func consumerThatHoldsADeliveryForTooLongLosesItsChannel() async throws {
        func limit(_ timeout: Int, _ tick: Int) -> String {
            "application:set_env(rabbit, consumer_timeout, \(timeout)), "
                + "application:set_env(rabbit, channel_tick_interval, \(tick))."
        }
        try await withBroker(set: ["eval", limit(1_000, 300)], back: ["eval", limit(1_800_000, 60_000)]) {
            try await withQuorumQueue { connection, channel, queue in
                try await channel.publish(AMQPMessage("slow"), exchange: "", routingKey: queue)
                let consumer = try await connection.openChannel().consume(queue: queue)
                let held = try await consumer.take(1)[0]
                // The broker closes the channel, which opens again, and delivers once more.
                let again = try await consumer.take(1)[0]
                expectEqual(again.message.text, "slow")
                expectTrue(again.redelivered)
                try await held.ack()
                try await again.ack()
                try await eventually { connection.statistics.staleAcknowledgements >= 1 }
                expectEqual(connection.state, .connected(generation: 1))
            }
        }
    }

    @Test func passwordIsInNoLogErrorOrDescription() async throws {
        let mark = "mark-7f3a9c"
        let seen = LogCapture()
        try await TestBroker.control("-q", "add_user", "probe", mark)
        try await TestBroker.control("-q", "set_permissions", "probe", ".*", ".*", ".*")
        var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
        configuration.credentials = .plain(user: "probe", password: mark)
        configuration.reconnect = ReconnectPolicy(base: .milliseconds(50), maximum: .milliseconds(100))
        configuration.connectTimeout = .seconds(60)
        let connection = AMQPConnection(configuration: configuration, logger: seen.logger)
        try await connection.start()
        let channel = try await connection.openChannel(confirms: true)
        for queue in ["no.such.queue", String(repeating: "q", count: 300)] {
            seen.note(
                await failure { () throws(AMQPError) in
                    try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true))
                })
        }
        // The connection comes back only when its password is right again.
        try await TestBroker.control("-q", "change_password", "probe", "another")
        try await TestBroker.control("-q", "close_all_connections", "test")
        try await eventually { seen.text.contains("authenticationFailed") }
        try await TestBroker.control("-q", "change_password", "probe", mark)
        try await eventually { connection.isConnected(sinceGeneration: 2) }
        seen.note(connection)
        seen.note(channel)
        seen.note(configuration)
        seen.note(connection.configuration.credentials)
        await connection.close()

        var wrong: [AMQPConfiguration] = []
        for change in 0..<4 {
            var other = configuration
            switch change {
            case 0: other.credentials = .plain(user: "probe", password: mark + "-wrong")
            case 1: other.virtualHost = "no-such-host"
            case 2: other.endpoints = [.init(host: "127.0.0.1", port: 1)]
            default:
                other.tls = AMQPTLSConfiguration()
                other.connectTimeout = .seconds(2)
            }
            wrong.append(other)
        }
        for other in wrong {
            let connection = AMQPConnection(configuration: other, logger: seen.logger)
            seen.note(await failure { () throws(AMQPError) in try await connection.start() })
            seen.note(connection)
            await connection.close()
        }
        expectTrue(seen.text.contains("probe"))
        expectTrue(!seen.text.contains(mark))
    }
}
