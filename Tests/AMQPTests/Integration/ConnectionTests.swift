import AMQP
import TestSupport
import Testing

extension BrokerTests {
    @Suite struct ConnectionTests {
        @Test func idleConnectionKeepsItsHeartbeat() async throws {
            try await withQueue(adjust: { $0.heartbeat = .seconds(1) }) { connection, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                // Five times as long as either side would put up with silence for half of.
                try await Task.sleep(for: .seconds(5))
                #expect(connection.state == .connected(generation: 1))
                try await channel.publish(AMQPMessage("still here"), exchange: "", routingKey: queue)
                #expect(try await consumer.take(1).first?.message.text == "still here")
                #expect(connection.statistics.reconnects == 0)
            }
        }

        @Test func wrongPasswordIsRefusedWithoutRepeatingIt() async throws {
            var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
            configuration.credentials = .plain(user: "guest", password: "hunter-2-hunter")
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            #expect(error?.code == .authenticationFailed)
            #expect(error?.replyCode == 403)
            #expect(error?.isRetriable == false)
            #expect("\(String(describing: error)) \(connection.configuration)".contains("hunter") == false)
            #expect(connection.state == .closed)
            await connection.close()
        }

        @Test func missingVirtualHostIsNamed() async throws {
            var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
            configuration.virtualHost = "no-such-host"
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            #expect(error?.code == .connectFailed)
            #expect(error?.message.contains("no-such-host") == true)
        }

        @Test func secondEndpointIsTakenWhenTheFirstIsDead() async throws {
            try await withConnection({ $0.endpoints.insert(.init(host: "127.0.0.1", port: 1), at: 0) }) { connection in
                #expect(connection.state == .connected(generation: 1))
            }
        }

        @Test func closeFailsWhatIsUnderWayAndIsFinal() async throws {
            try await withQueue { connection, channel, queue in
                let consumer = try await channel.consume(queue: queue)
                async let next = consumer.nextBatch(max: 1)
                await connection.close()
                #expect(try await next == nil)
                #expect(connection.state == .closed)
                let publish = await failure { () throws(AMQPError) in
                    try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: queue)
                }
                #expect(publish?.code == .closed)
                let start = await failure { () throws(AMQPError) in try await connection.start() }
                #expect(start?.code == .closed)
                await connection.close()
            }
        }

        @Test(.enabled(if: TestBroker.tlsURL != nil, "needs SLUICE_TEST_AMQPS_URL (Tests/broker start DIR --tls)"))
        func tlsCarriesEverythingThatPlainTCPDoes() async throws {
            let url = try #require(TestBroker.tlsURL)
            var configuration = try AMQPConfiguration(url: url)
            configuration.heartbeat = .seconds(1)
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            try await connection.start()
            let channel = try await connection.openChannel(confirms: true)
            let queue = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
            let body = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
            let sent = AMQPMessage(
                body: body, properties: AMQPProperties(messageID: "big", headers: ["a": ["b": 1]]))
            try await channel.publish(sent, exchange: "", routingKey: queue, mandatory: true)
            let consumer = try await channel.consume(queue: queue)
            let delivery = try await consumer.take(1)[0]
            #expect(delivery.message == sent)
            let batch = (0..<500).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
            async let published = channel.publish(batch: batch)
            let taken = try await take(499, from: consumer)
            #expect(await published.allSatisfy { $0 == nil })
            #expect(taken == (0..<499).map(String.init))
            try await Task.sleep(for: .seconds(3))
            #expect(connection.state == .connected(generation: 1))
            await connection.close()
        }

        private func take(_ count: Int, from consumer: AMQPConsumer) async throws -> [String] {
            var texts: [String] = []
            while texts.count < count {
                let delivery = try await consumer.take(1)[0]
                texts.append(delivery.message.text)
                try await consumer.ack(upTo: delivery)
            }
            return texts
        }

        @Test(.enabled(if: TestBroker.tlsURL != nil, "needs SLUICE_TEST_AMQPS_URL (Tests/broker start DIR --tls)"))
        func unknownAuthorityIsNotTrusted() async throws {
            var configuration = try AMQPConfiguration(url: #require(TestBroker.tlsURL))
            configuration.tls = AMQPTLSConfiguration()
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            #expect(error?.code == .connectFailed)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct UnreachableBrokerTests {
    @Test func refusedConnectionIsAnErrorAndStartMayBeRepeated() async throws {
        let configuration = try AMQPConfiguration(url: "amqp://user:secret-word@127.0.0.1:1/")
        let connection = AMQPConnection(configuration: configuration, logger: testLogger)
        for _ in 0..<3 {
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            #expect(error?.code == .connectFailed)
            #expect(error?.isRetriable == true)
            #expect(error?.description.contains("secret-word") == false)
            #expect(connection.state == .closed)
        }
        let open = await failure { () throws(AMQPError) in _ = try await connection.openChannel() }
        #expect(open?.code == .closed)
        await connection.close()
    }
}
