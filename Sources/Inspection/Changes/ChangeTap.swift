package import AMQP
package import Changesets
package import Messages

/// A change as it passes, told from others without reading its body.
package struct PassingChange: Sendable {
    /// The `topicKey` of its realm.
    package var realm: String
    package var place: ChangePlace
    package var isErasure: Bool
    /// JSON.
    package var body: [UInt8]

    package init(realm: String, place: ChangePlace, isErasure: Bool, body: [UInt8]) {
        self.realm = realm
        self.place = place
        self.isErasure = isErasure
        self.body = body
    }

    /// Nil for what is no change.
    package init?(_ delivery: AMQPDelivery) {
        guard delivery.message.properties.type == ChangeMessage.type,
            let id = delivery.message.properties.messageID, let slash = id.lastIndex(of: "/"),
            let place = ChangePlace(String(id[id.index(after: slash)...]))
        else { return nil }
        self.init(
            realm: String(id[..<slash]), place: place,
            isErasure: delivery.routingKey.hasSuffix(".\(ChangeMessage.erase)"), body: delivery.message.body)
    }
}

/// An app's changes as they pass, through a queue of the tap's own. Nothing is taken from the queue before `consume`.
package struct ChangeTap: Sendable {
    /// What may wait in the queue before the follower is given up, and what the broker keeps of it at most.
    package static let maxWaiting = 100_000
    private static let maxKept: Int64 = 200_000
    /// Deliveries that are in memory at once: each may be large.
    private static let prefetch = 16

    package let queue: String
    /// The connection's number: after another one is made, the queue is another, too.
    private let generation: Int
    private let connection: AMQPConnection
    private let channel: AMQPChannel

    /// - Parameter className: nil: of all classes.
    /// - Returns: nil where the connection is lost meanwhile.
    package static func open(
        on connection: AMQPConnection, topology: Topology, app: String, class className: ByteString?
    ) async throws(AMQPError) -> ChangeTap? {
        let channel = try await connection.openChannel(prefetch: prefetch)
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: ["x-max-length": .int(maxKept), "x-overflow": "drop-head"])
        ).name
        for key in Topology.changeKeys(app: app, class: className) {
            try await channel.bindQueue(queue, exchange: topology.changes, routingKey: key)
        }
        guard case .connected(let generation) = connection.state else {
            await channel.close()
            return nil
        }
        return ChangeTap(queue: queue, generation: generation, connection: connection, channel: channel)
    }

    package func consume() async throws(AMQPError) -> AMQPConsumer {
        try await channel.consume(queue: queue, exclusive: true)
    }

    /// How many changes wait.
    package func waiting() async throws(AMQPError) -> Int {
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

    /// Gives the queue up: the broker keeps one that was never consumed for as long as the connection.
    package func close() async {
        if (try? await channel.deleteQueue(queue)) == nil, let other = try? await connection.openChannel() {
            _ = try? await other.deleteQueue(queue)
            await other.close()
        }
        await channel.close()
    }
}
