package import AMQP
package import Changesets
package import Messages
package import SyncModel

/// A change as it passes.
package struct PassingChange: Sendable {
    /// The `topicKey` of its realm.
    package var realm: String
    package var place: FeedPlace
    package var follows: ChangePredecessors
    package var isErasure: Bool
    /// JSON, as who follows over HTTP is told it.
    package var body: [UInt8]

    package init(
        realm: String, place: FeedPlace, follows: ChangePredecessors = ChangePredecessors(), isErasure: Bool,
        body: [UInt8]
    ) {
        self.realm = realm
        self.place = place
        self.follows = follows
        self.isErasure = isErasure
        self.body = body
    }

    /// The changes that a message tells; none of one of another type.
    ///
    /// - Throws: for changes that cannot be read, such as one with more values than a reader takes: whoever goes on without them misses them.
    package static func all(in delivery: AMQPDelivery) throws -> [PassingChange] {
        guard delivery.message.properties.type == ChangesMessage.type else { return [] }
        let message = try delivery.message.decode(ChangesMessage.self)
        return message.changes.map { change in
            PassingChange(
                realm: message.realm.topicKey, place: FeedPlace(change.place, of: change.history),
                follows: change.follows, isErasure: change.isErasure,
                body: change.jsonBody())
        }
    }
}

/// An app's changes as they pass, through a queue of the tap's own. Nothing is taken from the queue before `consume`.
///
/// The broker keeps so much of it and no more: beyond, the oldest changes go, and one of them goes to a second queue, which says that something
/// is missing.
package struct ChangeTap: Sendable {
    /// The messages that may wait in the queue before the follower is given up, and what the broker keeps of it at most.
    package static let maxWaiting = 100_000
    private static let maxKept: Int64 = 200_000
    /// The bytes that the broker keeps for one follower.
    package static let maxBytes: Int64 = 256 << 20
    /// Deliveries that are in memory at once: each may be large.
    private static let prefetch = 16

    package let queue: String
    /// The queue that has a message as soon as the other one has let go of some.
    private let lost: String
    /// The connection's number: after another one is made, the queue is another, too.
    private let generation: Int
    private let connection: AMQPConnection
    private let channel: AMQPChannel

    /// - Parameters:
    ///   - className: nil: of all classes.
    ///   - maxBytes: what may wait in the queue.
    /// - Returns: nil where the connection is lost meanwhile.
    package static func open(
        on connection: AMQPConnection, topology: Topology, app: String, class className: ByteString?,
        maxBytes: Int64 = maxBytes
    ) async throws(AMQPError) -> ChangeTap? {
        let channel = try await connection.openChannel(prefetch: prefetch)
        let lost = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, arguments: ["x-max-length": 1, "x-overflow": "drop-head"])
        ).name
        // A coordinator's user may not publish to queues, and so may have nothing dead-lettered to one but by an exchange.
        try await channel.bindQueue(lost, exchange: topology.outcomes, routingKey: lost)
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: [
                    "x-max-length": .int(maxKept), "x-max-length-bytes": .int(maxBytes), "x-overflow": "drop-head",
                    "x-dead-letter-exchange": .string(topology.outcomes), "x-dead-letter-routing-key": .string(lost),
                ])
        ).name
        for key in Topology.changeKeys(app: app, class: className) {
            try await channel.bindQueue(queue, exchange: topology.changes, routingKey: key)
        }
        guard case .connected(let generation) = connection.state else {
            await channel.close()
            return nil
        }
        return ChangeTap(
            queue: queue, lost: lost, generation: generation, connection: connection, channel: channel)
    }

    package func consume() async throws(AMQPError) -> AMQPConsumer {
        try await channel.consume(queue: queue, exclusive: true)
    }

    /// How many changes wait.
    package func waiting() async throws(AMQPError) -> Int { try await count(queue) }

    /// Whether the broker has let go of changes that nobody has read. Asked after a change was read it also tells of what went before that one.
    package func hasLost() async throws(AMQPError) -> Bool { try await count(lost) > 0 }

    private func count(_ queue: String) async throws(AMQPError) -> Int {
        try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false).messageCount
    }

    /// Whether the queue is still that which was opened: one that was lost with its connection has lost changes.
    package var isWhole: Bool {
        switch connection.state {
        case .connected(let now): now == generation
        case .blocked: true
        case .connecting, .reconnecting, .closed: false
        }
    }

    package func holds(_ delivery: AMQPDelivery) -> Bool { delivery.generation == generation }

    /// Gives the queues up: the broker keeps one that was never consumed for as long as the connection.
    package func close() async {
        if (try? await delete(on: channel)) == nil, let other = try? await connection.openChannel() {
            try? await delete(on: other)
            await other.close()
        }
        await channel.close()
    }

    private func delete(on channel: AMQPChannel) async throws(AMQPError) {
        _ = try await channel.deleteQueue(queue)
        _ = try await channel.deleteQueue(lost)
    }
}
