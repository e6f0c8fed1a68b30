import AMQP
import Logging
import Messages
import SyncModel
import Synchronization

/// The coordinator's two connections: a blocked publisher must not stop the consumers.
final class BrokerLink: Sendable {
    let topology: Topology
    let slices: SliceCount
    let publisher: AMQPConnection
    let consumer: AMQPConnection
    private let gate: BrokerGate?
    private let channel = Mutex<AMQPChannel?>(nil)
    private let logger: Logger

    /// How long a publish may wait for a broker that is away.
    static let patience: Duration = .seconds(5)

    init(configuration: CoordinatorConfiguration, logger: Logger) {
        topology = configuration.topology
        slices = configuration.slices
        gate = configuration.gate
        self.logger = logger
        var amqp = configuration.amqp
        amqp.connectionName = "sluice coordinator \(configuration.id), publishing"
        publisher = AMQPConnection(configuration: amqp, logger: logger)
        amqp.connectionName = "sluice coordinator \(configuration.id), consuming"
        consumer = AMQPConnection(configuration: amqp, logger: logger)
    }

    /// Connects, again and again until it succeeds or the task is cancelled, and declares what is shared.
    /// What is missing and may not be made is waited for: somebody may be about to run `sluice broker init`.
    /// - Parameter waits: told why it is not connected yet.
    /// - Throws: `ForeignBroker`; `authenticationFailed`; `CancellationError`.
    func connect(_ waits: (String) -> Void) async throws {
        try await retrying("connect to the broker", waits) { try await self.publisher.start() }
        try await retrying("connect to the broker", waits) { try await self.consumer.start() }
        try await retrying("declare the exchanges and queues", waits) {
            let channel = try await self.publisher.openChannel(confirms: true)
            try await self.gate?.enter(self.publisher, channel)
            try await self.topology.declareShared(on: channel, slices: self.slices)
            self.channel.withLock { $0 = channel }
        }
    }

    func close() async {
        channel.withLock { $0 = nil }
        await consumer.close()
        await publisher.close()
    }

    /// Publishes, confirmed, to a queue that must be there.
    func publish(_ message: some Message, id: String? = nil, exchange: String, routingKey: String = "") async throws {
        let amqp = if let id { try AMQPMessage(message, id: id) } else { try AMQPMessage(message) }
        try await publish(amqp, exchange: exchange, routingKey: routingKey, mandatory: true)
    }

    /// Publishes to the owners of all slices, in order with the changesets.
    func publishToAllSlices(_ message: some Message, id: String? = nil) async throws {
        try await publish(message, id: id, exchange: topology.terminations)
    }

    /// Publishes to a slice's owner.
    func publish(_ message: some Message, id: String? = nil, to slice: SliceNumber) async throws {
        try await publish(message, id: id, exchange: topology.slices, routingKey: String(slice.value))
    }

    /// Tells those who listen at the moment, which may be nobody.
    func tell(_ notice: some Message, exchange: String, routingKey: String) async throws {
        try await publish(
            AMQPMessage(notice, persistent: false), exchange: exchange, routingKey: routingKey, mandatory: false)
    }

    func publish(_ message: AMQPMessage, exchange: String, routingKey: String, mandatory: Bool) async throws {
        try await open().publish(
            message, exchange: exchange, routingKey: routingKey, mandatory: mandatory, timeout: Self.patience)
    }

    func publish(batch: [(AMQPMessage, exchange: String, routingKey: String)]) async throws -> [AMQPError?] {
        try await open().publish(batch: batch, mandatory: true, timeout: Self.patience)
    }

    /// Whether both connections are there and take what they are given.
    var isUsable: Bool { publisher.state.isUsable && consumer.state.isUsable }

    /// How many messages wait in a queue, and how many consumers it has.
    func inspect(_ queue: String) async throws -> AMQPQueueInfo {
        try await open().declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false)
    }

    private func open() throws -> AMQPChannel {
        guard let channel = channel.withLock({ $0 }) else {
            throw CoordinatorError(.brokerUnavailable, "there is no connection to the broker yet")
        }
        return channel
    }

    private func retrying(
        _ what: String, _ waits: (String) -> Void, _ body: () async throws -> Void
    ) async throws {
        var wait = Duration.milliseconds(200)
        while true {
            do {
                return try await body()
            } catch let error as ForeignBroker {
                throw error
            } catch let error as AMQPError where error.code == .authenticationFailed {
                // Only a person can change that: the process ends, with the exit code that says so.
                throw error
            } catch {
                try Task.checkCancellation()
                waits((error as? AMQPError)?.message ?? "\(error)")
                logger.warning(
                    "broker not usable, will try again", metadata: ["what": "\(what)", "error": "\(error)"])
                try await Task.sleep(for: wait * Double.random(in: 0.7...1.3))
                wait = min(wait * 2, .seconds(5))
            }
        }
    }
}
