package import AMQP
package import Messages
package import SyncModel

/// The dead-letter queue as an operator handles it.
///
/// Nothing is taken out of it before the broker has confirmed what becomes of it: everything that is fetched stays
/// unacknowledged, and goes back to its place when the channel closes, also when this process dies. While one looks, nobody
/// else sees what one has fetched.
package struct DeadLetterQueue: Sendable {
    /// Some brokers drop what was delivered 20 times; what comes near is published anew, at the queue's end.
    static let maxDeliveries = 15

    let connection: AMQPConnection
    let topology: Topology
    let slices: SliceCount

    package init(connection: AMQPConnection, topology: Topology, slices: SliceCount) {
        self.connection = connection
        self.topology = topology
        self.slices = slices
    }

    /// What becomes of a dead letter.
    package enum Fate: Sendable {
        /// It stays where it is.
        case kept
        /// It goes to the queue that it died in.
        case requeued
        case dropped
    }

    /// Visits the dead letters from the head, at most `limit` of those that are there now, and decides their fate.
    ///
    /// - Parameter done: told of every letter once its fate is sealed.
    /// - Returns: how many were looked at and how many there were.
    /// - Throws: `AMQPError`; `InspectionError` `noOrigin`. Those visited before keep their fate.
    package func visit(
        limit: Int, _ body: (DeadLetterEntry, AMQPMessage) async throws -> Fate,
        done: (DeadLetterEntry, Fate) throws -> Void = { _, _ in }
    ) async throws -> (seen: Int, of: Int) {
        let channel = try await connection.openChannel(confirms: true)
        do {
            var count = try await channel.declareQueue(
                AMQPQueueDeclaration(name: topology.dead, passive: true), record: false
            ).messageCount
            var position = 0
            var kept = 0
            // No more than there were: what comes back at once must not be met again.
            while position < min(max(count, 1), limit), let delivery = try await channel.get(queue: topology.dead) {
                // A broker that is busy says of a quorum queue that it is empty; what it says with a message is right.
                if position == 0, let left = delivery.messagesLeft { count = 1 + left }
                position += 1
                let entry = DeadLetterEntry(delivery, position: position, slices: slices)
                let fate = try await body(entry, delivery.message)
                switch fate {
                case .kept:
                    kept += 1
                    if delivery.deliveryCount ?? 0 >= Self.maxDeliveries { try await renew(delivery, on: channel) }
                case .requeued:
                    try await requeue(delivery, entry, on: channel)
                case .dropped:
                    try await delivery.ack()
                }
                try done(entry, fate)
            }
            await channel.close()
            await waitForReturn(of: kept)
            return (position, count)
        } catch {
            await channel.close()
            throw error
        }
    }

    /// What was fetched goes back a moment after the channel has closed: whoever looks next is to find it there.
    private func waitForReturn(of kept: Int) async {
        guard kept > 0, let channel = try? await connection.openChannel() else { return }
        let dead = AMQPQueueDeclaration(name: topology.dead, passive: true)
        for _ in 0..<100 {
            guard let info = try? await channel.declareQueue(dead, record: false), info.messageCount < kept else {
                break
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        await channel.close()
    }

    private func requeue(_ delivery: AMQPDelivery, _ entry: DeadLetterEntry, on channel: AMQPChannel) async throws {
        guard let target = target(of: entry) else {
            throw InspectionError(
                .noOrigin,
                "dead letter \(entry.position) (\(entry.id ?? "no id")) came from \(entry.queue ?? "an unknown queue"),"
                    + " which is no queue of this cluster: publish it again with sluice publish, or drop it")
        }
        try await channel.publish(
            Self.cleaned(delivery.message), exchange: target.exchange, routingKey: target.key, mandatory: true)
        try await delivery.ack()
    }

    private func renew(_ delivery: AMQPDelivery, on channel: AMQPChannel) async throws {
        var message = delivery.message.forRepublishing()
        message.properties.headers["x-delivery-count"] = nil
        try await channel.publish(message, exchange: "", routingKey: topology.dead, mandatory: true)
        try await delivery.ack()
    }

    /// The exchange and key that lead to the queue that it died in.
    func target(of entry: DeadLetterEntry) -> (exchange: String, key: String)? {
        if entry.queue == topology.outcomes { return (topology.outcomes, "") }
        let start = "\(topology.prefix).slice."
        guard let queue = entry.queue, queue.hasPrefix(start), let number = Int(queue.dropFirst(start.count)),
            (0..<slices.value).contains(number)
        else { return nil }
        return (topology.slices, String(number))
    }

    /// As it was before it died.
    static func cleaned(_ message: AMQPMessage) -> AMQPMessage {
        var message = message
        message.properties.headers = message.properties.headers.filter { key, _ in
            !key.hasPrefix("x-death") && !key.hasPrefix("x-first-death") && !key.hasPrefix("x-last-death")
                && ![
                    "x-delivery-count", "x-acquired-count", DeadLetter.reasonHeader, DeadLetter.queueHeader,
                    DeadLetter.appHeader, "x-sluice-type", "x-sluice-forwarded",
                ].contains(key)
        }
        return message.forRepublishing()
    }
}
