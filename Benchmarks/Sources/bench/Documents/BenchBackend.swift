import AMQP
import ExtendedJSON
import Foundation
import Logging
import Messages
import SyncModel
import Synchronization

/// A backend beside the devices: writes documents through the broker, and follows an app's changes.
final class BenchBackend: Sendable {
    private struct Heard {
        var changes = 0
        /// When the last change came.
        var last: Int64 = 0
        var failure: String?
    }

    private let connection: AMQPConnection
    private let channel: AMQPChannel
    private let exchange: String
    private let slices: SliceCount
    private let heard = Mutex(Heard())
    private let consuming = Mutex<Task<Void, Never>?>(nil)

    private init(_ connection: AMQPConnection, _ channel: AMQPChannel, _ topology: Topology, _ slices: SliceCount) {
        self.connection = connection
        self.channel = channel
        exchange = topology.slices
        self.slices = slices
    }

    /// Connects, and follows an app's changes from now on.
    static func open(_ cluster: BenchCluster, following app: String) async throws -> BenchBackend {
        guard let slices = SliceCount(cluster.cluster.slices) else { throw BenchFailure("no cluster has no slices") }
        let topology = Topology(prefix: cluster.cluster.prefix)
        let connection = AMQPConnection(
            configuration: try AMQPConfiguration(url: cluster.cluster.amqpURL),
            logger: Logger(label: "bench.backend") { _ in SwiftLogNoOpLogHandler() })
        try await connection.start()
        let backend = BenchBackend(connection, try await connection.openChannel(confirms: true), topology, slices)
        let reading = try await connection.openChannel(prefetch: 1_000)
        let queue = try await reading.declareQueue(
            AMQPQueueDeclaration(name: "", durable: false, exclusive: true, autoDelete: true)
        ).name
        for key in Topology.changeKeys(app: app, class: nil) {
            try await reading.bindQueue(queue, exchange: topology.changes, routingKey: key)
        }
        let consumer = try await reading.consume(queue: queue, exclusive: true)
        let task = Task { await backend.follow(consumer) }
        backend.consuming.withLock { $0 = task }
        return backend
    }

    private func follow(_ consumer: AMQPConsumer) async {
        do {
            while let batch = try await consumer.nextBatch(max: 1_000) {
                let now = MonotonicTime.now
                let changes = try batch.reduce(0) { $0 + (try $1.message.decode(ChangesMessage.self).changes.count) }
                heard.withLock { heard in
                    heard.changes += changes
                    heard.last = now
                }
                if let last = batch.last { try await consumer.ack(upTo: last) }
            }
        } catch {
            heard.withLock { $0.failure = "\(error)" }
        }
    }

    func close() async {
        consuming.withLock { $0 }?.cancel()
        await connection.close()
    }

    /// How many changes have come, and when the last one came.
    var changes: (count: Int, last: Int64) {
        get throws {
            let heard = heard.withLock { $0 }
            if let failure = heard.failure { throw BenchFailure("the feed ended: \(failure)") }
            return (heard.changes, heard.last)
        }
    }

    /// Sends a write on its way, without waiting for anything.
    func send(_ write: BSONDocument, to realm: RealmName) throws {
        let message = try AMQPMessage(
            WriteMessage(realm: realm, writes: [.document(write)]), id: UUID().uuidString)
        let key = String(realm.slice(of: slices).value)
        Task { [self] in
            do {
                try await channel.publish(message, exchange: exchange, routingKey: key, mandatory: true)
            } catch {
                heard.withLock { $0.failure = "a write was not published: \(error)" }
            }
        }
    }
}
