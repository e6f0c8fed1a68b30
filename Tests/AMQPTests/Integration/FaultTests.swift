import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct FaultTests {
        private func withProxy(
            _ adjust: (inout AMQPConfiguration) -> Void = { _ in },
            _ body: (FaultyProxy, AMQPConnection, AMQPChannel, AMQPConsumer, String) async throws -> Void
        ) async throws {
            try await withFaultyProxy(adjust) { proxy, connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = TestBroker.uniqueName()
                // Not one that goes with its consumer: the broker may miss the lost one only when the next has declared it.
                try await channel.declareQueue(AMQPQueueDeclaration(name: queue))
                let consumer = try await channel.consume(queue: queue)
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(proxy, connection, channel, consumer, queue))
                } catch {
                    result = .failure(error)
                }
                proxy.thaw()
                _ = try? await channel.deleteQueue(queue)
                try result.get()
            }
        }

        @Test func silentBrokerIsGivenUpAfterTwoHeartbeats() async throws {
            // Long enough for a busy machine to keep to before.
            try await withProxy({ $0.heartbeat = .seconds(10) }) { proxy, connection, channel, consumer, queue in
                try await proxy.freeze()
                // Without heartbeats the publish would wait for its own deadline, and fail with another code.
                let error = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage("x"), exchange: "", routingKey: queue, timeout: .seconds(120))
                }
                expectEqual(error?.code, .connectionLost)
                proxy.thaw()
                try await eventually {
                    if case .connected(let generation) = connection.state { generation > 1 } else { false }
                }
                try await channel.publish(AMQPMessage("y"), exchange: "", routingKey: queue)
                // The first may have arrived as well, when what was held back was let through.
                let texts = try await consumer.take(1).map(\.message.text)
                expectTrue(texts == ["y"] || texts == ["x"])
            }
        }

        @Test func confirmsKeepTheirDeadlinesAcrossAReconnect() async throws {
            try await withProxy({ $0.heartbeat = .zero }) { proxy, connection, channel, consumer, queue in
                try await proxy.freeze()
                // Written, and its confirm is held back: the deadline ends the wait.
                let late = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage("late"), exchange: "", routingKey: queue, timeout: .milliseconds(200))
                }
                expectEqual(late?.code, .timeout)
                // Under way when the connection goes: what became of it is not known.
                async let lost = failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("lost"), exchange: "", routingKey: queue, timeout: nil)
                }
                try await eventually { connection.statistics.published == 2 }
                proxy.cut()
                await expectEqual(lost?.code, .connectionLost)
                // Not begun: it waits for the next connection, up to its deadline.
                let waited = await failure { () throws(AMQPError) in
                    try await channel.publish(
                        AMQPMessage("waited"), exchange: "", routingKey: queue, timeout: .milliseconds(200))
                }
                expectEqual(waited?.code, .timeout)
                async let next: Void = channel.publish(
                    AMQPMessage("next"), exchange: "", routingKey: queue, mandatory: true, timeout: .seconds(120))
                proxy.thaw()
                try await next
                expectEqual(connection.state, .connected(generation: 2))
                // The count of confirms began anew: the first one is that of "next" and nobody else's.
                try await eventually { connection.statistics.confirmed > 0 }
                expectEqual(connection.statistics.confirmed, 1)
                try await expectEqual(consumer.take(1)[0].message.text, "next")
            }
        }

        // A frame type that does not exist, a frame without its end, an answer to no question, the body of no message,
        // a confirm of what was never published, a frame beyond the agreed size, a method that does not exist.
        @Test(
            arguments: [
                Array(repeating: UInt8(0xFF), count: 64), [1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 11, 0],
                [1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 11, 0xCE], [3, 0, 1, 0, 0, 0, 1, 7, 0xCE],
                [1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 0, 99, 1, 0xCE],
                [3, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF, 0], [1, 0, 1, 0, 0, 0, 4, 0, 99, 0, 99, 0xCE],
                [1, 0, 0, 0, 0, 0, 4, 0, 10, 0, 41, 0xCE],
                [2, 0, 1, 0, 0, 0, 14, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xCE],
            ] as [[UInt8]])
        func nonsenseFromTheBrokerCostsTheConnectionOnly(bytes: [UInt8]) async throws {
            try await withProxy { proxy, connection, channel, consumer, queue in
                proxy.inject(bytes)
                try await eventually { connection.state == .connected(generation: 2) }
                try await channel.publish(AMQPMessage("on"), exchange: "", routingKey: queue)
                try await expectEqual(consumer.take(1).first?.message.text, "on")
            }
        }

        @Test func serverThatSpeaksAnotherProtocolIsAnError() async throws {
            // Whatever listens on the epmd or the distribution port of Erlang is not AMQP; a proxy that greets with
            // HTTP will do.
            let proxy = try FaultyProxy(brokerPort: 1)
            proxy.start()
            defer { proxy.stop() }
            let configuration = try AMQPConfiguration(url: "amqp://127.0.0.1:\(proxy.port)")
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            expectEqual(error?.code, .connectFailed)
        }
    }
}
