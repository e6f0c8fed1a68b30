import AMQP
import Logging
import TestSupport
import Testing

/// Suites that talk to the broker are nested here, where the time limit and the condition are stated once.
@Suite(.needsBroker, .hangGuard)
enum BrokerTests {}

let testLogger: Logger = {
    var logger = Logger(label: "test.amqp")
    logger.logLevel = .critical
    return logger
}()

/// A connection for the length of a test.
func withConnection<Result>(
    _ adjust: (inout AMQPConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (AMQPConnection) async throws -> Result
) async throws -> Result {
    var configuration = try AMQPConfiguration(url: TestBroker.requireURL())
    configuration.reconnect = ReconnectPolicy(base: .milliseconds(50), maximum: .milliseconds(500))
    // What the broker does on a busy machine takes its time.
    configuration.connectTimeout = .seconds(60)
    configuration.requestTimeout = .seconds(60)
    adjust(&configuration)
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

/// A connection, a channel with confirms and a fresh queue that goes with the connection.
func withQueue<Result>(
    _ name: String = #function, prefetch: Int = 256, arguments: AMQPTable = [:],
    adjust: (inout AMQPConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (AMQPConnection, AMQPChannel, String) async throws -> Result
) async throws -> Result {
    try await withConnection(adjust) { connection in
        let channel = try await connection.openChannel(prefetch: prefetch, confirms: true)
        let queue = TestBroker.uniqueName(name)
        try await channel.declareQueue(
            AMQPQueueDeclaration(name: queue, durable: false, exclusive: true, arguments: arguments))
        return try await body(connection, channel, queue)
    }
}

/// A connection through a proxy, which can keep it away from the broker for as long as a test likes.
func withFaultyProxy<Result>(
    _ adjust: (inout AMQPConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FaultyProxy, AMQPConnection) async throws -> Result
) async throws -> Result {
    let endpoint = try #require(AMQPConfiguration(url: TestBroker.requireURL()).endpoints.first)
    let proxy = try FaultyProxy(brokerPort: endpoint.port)
    proxy.start()
    defer { proxy.stop() }
    return try await withConnection({
        $0.endpoints = [.init(host: "127.0.0.1", port: proxy.port)]
        adjust(&$0)
    }) { connection in
        try await body(proxy, connection)
    }
}

extension AMQPConnection {
    /// Whether it is connected now, for at least the so-manieth time: a broker that starts may drop whom it has just let in.
    func isConnected(sinceGeneration least: Int) -> Bool {
        guard case .connected(let generation) = state else { return false }
        return generation >= least
    }
}

/// The error that an operation throws.
func failure(
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    of operation: () async throws(AMQPError) -> Void
) async -> AMQPError? {
    do throws(AMQPError) {
        try await operation()
        Issue.record("expected an error", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error
    }
}

extension AMQPMessage {
    init(_ text: String, id: String? = nil) {
        self.init(body: text, properties: AMQPProperties(messageID: id))
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension AMQPConsumer {
    /// The next deliveries, as many as asked for.
    func take(_ count: Int) async throws -> [AMQPDelivery] {
        var result: [AMQPDelivery] = []
        while result.count < count {
            guard let batch = try await nextBatch(max: count - result.count) else {
                throw TestBrokerError("the consumer ended after \(result.count) of \(count) deliveries")
            }
            result += batch
        }
        return result
    }
}
