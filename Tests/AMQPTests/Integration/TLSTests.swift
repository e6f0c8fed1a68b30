import AMQP
import Foundation
import TestSupport
import Testing

extension BrokerTests {
    /// A broker that demands client certificates, under an authority made for it alone. One test after the other, because
    /// one closes every connection.
    @Suite(.needsBrokerControl, .serialized, .ownBroker("--client-certificates")) struct TLSTests {
        /// What `Tests/broker` printed: the right name, authority, certificate and key.
        private func right() throws -> AMQPConfiguration {
            var configuration = try AMQPConfiguration(url: #require(TestBroker.tlsURL))
            configuration.reconnect = ReconnectPolicy(base: .milliseconds(50), maximum: .milliseconds(500))
            configuration.connectTimeout = .seconds(60)
            configuration.requestTimeout = .seconds(60)
            return configuration
        }

        private func withTLS<Result>(
            _ configuration: AMQPConfiguration, isolation: isolated (any Actor)? = #isolation,
            _ body: (AMQPConnection) async throws -> Result
        ) async throws -> Result {
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            try await connection.start()
            do {
                let result = try await body(connection)
                await connection.close()
                return result
            } catch {
                await connection.close()
                throw error
            }
        }

        private func refusal(_ configuration: AMQPConfiguration) async -> AMQPError? {
            let connection = AMQPConnection(configuration: configuration, logger: testLogger)
            let error = await failure { () throws(AMQPError) in try await connection.start() }
            await connection.close()
            return error
        }

        /// A folder with an authority of this test's own and a client's certificate that it signed.
        private func withAuthority(_ body: (String) async throws -> Void) async throws {
            let certificates = try TestCertificates()
            defer { try? FileManager.default.removeItem(at: certificates.folder) }
            try await certificates.makeAuthority("ca")
            try await certificates.makeClient("client", called: "guest", signedBy: "ca")
            try await body(certificates.folder.path)
        }

        @Test func tlsCarriesEverythingThatPlainTCPDoes() async throws {
            try await withTLS(right()) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
                let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
                let sent = AMQPMessage(
                    body: body, properties: AMQPProperties(messageID: "big", headers: ["a": ["b": 1]]))
                try await channel.publish(sent, exchange: "", routingKey: queue, mandatory: true)
                let consumer = try await channel.consume(queue: queue)
                let delivery = try await consumer.take(1)[0]
                expectEqual(delivery.message, sent)
                let batch = (0..<500).map { (AMQPMessage("\($0)"), exchange: "", routingKey: queue) }
                async let published = channel.publish(batch: batch)
                var texts: [String] = []
                while texts.count < 500 {
                    let taken = try await consumer.take(1)[0]
                    texts.append(taken.message.text)
                    try await consumer.ack(upTo: taken)
                }
                await expectTrue(published.allSatisfy { $0 == nil })
                expectEqual(texts, (0..<500).map(String.init))
            }
        }

        @Test func idleConnectionKeepsItsHeartbeat() async throws {
            var configuration = try right()
            configuration.heartbeat = .seconds(1)
            // A single connection that lasts is enough: a process that a busy machine stops for seconds is silent
            // indeed.
            try await eventually {
                let lasts = try? await withTLS(configuration) { connection in
                    // Longer than either side would put up with silence.
                    try await Task.sleep(for: .seconds(3))
                    return connection.state == .connected(generation: 1)
                }
                return lasts == true
            }
        }

        @Test func frameLimitHoldsOverTLS() async throws {
            var configuration = try right()
            configuration.maxFrameBytes = 4096
            try await withTLS(configuration) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
                let sent = AMQPMessage(body: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
                try await channel.publish(sent, exchange: "", routingKey: queue)
                try await expectEqual(channel.consume(queue: queue).take(1)[0].message.body, sent.body)
            }
        }

        @Test func anotherAuthorityIsRefused() async throws {
            try await withAuthority { folder in
                var configuration = try right()
                configuration.tls?.authoritiesFile = folder + "/ca.pem"
                let error = await refusal(configuration)
                expectEqual(error?.code, .connectFailed)
                expectEqual(error?.message.contains("cacertfile"), true)
            }
        }

        @Test func systemsAuthoritiesDoNotKnowATestsOwn() async throws {
            var configuration = try right()
            configuration.tls?.authoritiesFile = nil
            await expectEqual(refusal(configuration)?.code, .connectFailed)
        }

        @Test func nameThatTheCertificateDoesNotHoldIsRefused() async throws {
            var configuration = try right()
            configuration.endpoints[0].host = "127.0.0.1"
            let error = await refusal(configuration)
            expectEqual(error?.code, .connectFailed)
            expectEqual(error?.message.contains("name"), true)
            // Only because of the name.
            configuration.tls?.verifiesHostname = false
            try await withTLS(configuration) { connection in
                expectEqual(connection.state, .connected(generation: 1))
            }
        }

        @Test func verificationCanBeTurnedOff() async throws {
            var configuration = try right()
            configuration.endpoints[0].host = "127.0.0.1"
            configuration.tls?.authoritiesFile = nil
            configuration.tls?.verifiesPeer = false
            configuration.tls?.verifiesHostname = false
            try await withTLS(configuration) { connection in
                expectEqual(connection.state, .connected(generation: 1))
            }
        }

        @Test func missingClientCertificateIsRefused() async throws {
            var configuration = try right()
            configuration.tls?.certificateFile = nil
            configuration.tls?.keyFile = nil
            let error = await refusal(configuration)
            expectEqual(error?.code, .connectFailed)
            expectEqual(error?.message.contains("certfile"), true)
        }

        @Test func clientCertificateOfAnotherAuthorityIsRefused() async throws {
            try await withAuthority { folder in
                var configuration = try right()
                configuration.tls?.certificateFile = folder + "/client.pem"
                configuration.tls?.keyFile = folder + "/client.key"
                await expectEqual(refusal(configuration)?.code, .connectFailed)
                configuration.tls?.keyFile = try right().tls?.keyFile
                // Nor does a key fit that is not the certificate's.
                let mismatch = await refusal(configuration)
                expectEqual(mismatch?.message.contains(folder + "/client.pem"), true)
                configuration.tls?.authoritiesFile = folder + "/none.pem"
                await expectEqual(refusal(configuration)?.message.contains(folder + "/none.pem"), true)
            }
        }

        @Test func certificateLogsInByItsCommonName() async throws {
            let name = TestBroker.uniqueName()
            let url = try #require(TestBroker.tlsURL)
            var configuration = try AMQPConfiguration(url: url + "&auth_mechanism=external&name=" + name)
            expectEqual(configuration.credentials, .external)
            try await withTLS(configuration) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
                try await channel.publish(AMQPMessage("x"), exchange: "", routingKey: queue)
                // The list lags behind.
                var ours: Substring?
                try await eventually {
                    let lines = try await TestBroker.control(
                        "-q", "list_connections", "auth_mechanism", "user", "client_properties")
                    ours = lines.split(separator: "\n").first { $0.contains(name) }
                    return ours != nil
                }
                expectEqual(ours?.hasPrefix("EXTERNAL\tguest\t"), true)
            }
            configuration.virtualHost = "no-such-host"
            await expectEqual(refusal(configuration)?.message.contains("no-such-host"), true)
        }

        @Test func lostConnectionComesBackEncrypted() async throws {
            try await withTLS(right()) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let queue = try await channel.declareQueue(AMQPQueueDeclaration(name: "", exclusive: true)).name
                let consumer = try await channel.consume(queue: queue)
                try await TestBroker.control("-q", "close_all_connections", "--vhost", "/", "test")
                try await eventually {
                    if case .connected(let generation) = connection.state { generation >= 2 } else { false }
                }
                try await eventually {
                    await channel.publish(
                        batch: [(AMQPMessage("on"), exchange: "", routingKey: queue)], mandatory: true)[0]
                        == nil
                }
                try await expectEqual(consumer.take(1)[0].message.text, "on")
            }
        }
    }
}
