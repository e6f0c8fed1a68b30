import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct ConnectionTests {
        @Test func idleConnectionKeepsItsHeartbeat() async throws {
            // Without heartbeats none would last. With them one is enough: a process that a busy machine stops for seconds is
            // silent indeed.
            try await eventually {
                let lasts = try? await withConnection({ $0.heartbeat = .seconds(1) }) { connection in
                    // Longer than either side would put up with silence.
                    try await Task.sleep(for: .seconds(3))
                    return connection.state == .connected(generation: 1)
                }
                return lasts == true
            }
        }

        @Test func wrongPasswordIsRefusedWithoutRepeatingIt() async throws {
            var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
            configuration.credentials = .plain(user: "guest", password: "hunter-2-hunter")
            configuration.connectTimeout = .seconds(60)
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            expectEqual(error?.code, .authenticationFailed)
            expectEqual(error?.replyCode, 403)
            expectEqual(error?.isRetriable, false)
            expectEqual("\(String(describing: error)) \(connection.configuration)".contains("hunter"), false)
            expectEqual(connection.state, .closed)
            await connection.close()
        }

        @Test func missingVirtualHostIsNamed() async throws {
            var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
            configuration.virtualHost = "no-such-host"
            configuration.connectTimeout = .seconds(60)
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            // Like a wrong password: trying again does not help.
            expectEqual(error?.code, .authenticationFailed)
            expectEqual(error?.message.contains("no-such-host"), true)
        }

        @Test func secondEndpointIsTakenWhenTheFirstIsDead() async throws {
            try await withConnection({ $0.endpoints.insert(.init(host: "127.0.0.1", port: 1), at: 0) }) { connection in
                expectEqual(connection.state, .connected(generation: 1))
            }
        }

        @Test func closeFailsWhatIsUnderWayAndIsFinal() async throws {
            try await withQueue { connection, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                async let next = consumer.nextBatch(max: 1)
                await connection.close()
                try await expectTrue(next == nil)
                expectEqual(connection.state, .closed)
                let publish = await failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: queue)
                }
                expectEqual(publish?.code, .closed)
                let start = await failure { () throws(AMQPError) in try await connection.start() }
                expectEqual(start?.code, .closed)
                await connection.close()
            }
        }
    }
}

@Suite(.hangGuard) struct UnreachableBrokerTests {
    @Test func refusedConnectionIsAnErrorAndStartMayBeRepeated() async throws {
        let configuration = try AMQPConfiguration(url: "amqp://user:secret-word@127.0.0.1:1/")
        let connection = AMQPConnection(configuration: configuration, logger: testLogger)
        for _ in 0..<3 {
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            expectEqual(error?.code, .connectFailed)
            expectEqual(error?.isRetriable, true)
            expectEqual(error?.description.contains("secret-word"), false)
            expectEqual(connection.state, .closed)
        }
        let open = await failure { () throws(AMQPError) in _ = try await connection.openChannel() }
        expectEqual(open?.code, .closed)
        await connection.close()
    }
}
