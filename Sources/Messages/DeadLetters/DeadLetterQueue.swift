package import AMQP
package import SyncModel

/// The dead-letter queue, for those who look through it: an operator's commands and the coordinator.
///
/// No letter leaves the queue before the broker has confirmed its copy: fetched letters stay unacknowledged, and go back to
/// their places when the channel closes or this process dies. Until then no other consumer sees them.
package struct DeadLetterQueue: Sendable {
    /// Some brokers drop a message that was delivered 20 times. A letter with this many deliveries is published again, at the
    /// queue's end.
    static let maxDeliveries = 15
    /// How often a queue that holds letters by its count is asked again where the broker says that the queue is empty, and how long it is
    /// left alone in between.
    static let maxAsks = 25
    static let pauseBetweenAsks = Duration.milliseconds(40)

    let connection: AMQPConnection
    let topology: Topology
    let slices: SliceCount

    package init(connection: AMQPConnection, topology: Topology, slices: SliceCount) {
        self.connection = connection
        self.topology = topology
        self.slices = slices
    }

    /// The fate of a dead letter.
    package enum Fate: Sendable {
        /// The letter stays where it is.
        case kept
        /// The letter goes to the queue that it died in.
        case requeued
        case dropped
    }

    /// Visits the dead letters, at most `limit` of those that are there now, and carries out their fates. They come in the
    /// broker's order, which is another one whenever somebody has looked.
    ///
    /// - Parameters:
    ///   - body: decides a letter's fate.
    ///   - done: called for each letter after its fate was carried out.
    /// - Returns: how many letters were visited and how many there were.
    /// - Throws: `AMQPError`; `DeadLetterError`. The fates of letters visited before are carried out.
    package func visit(
        limit: Int, _ body: (DeadLetter, AMQPMessage) async throws -> Fate,
        done: (DeadLetter, AMQPMessage, Fate) throws -> Void = { _, _, _ in }
    ) async throws -> (seen: Int, of: Int) {
        let channel = try await connection.openChannel(confirms: true)
        do {
            var count = try await channel.declareQueue(
                AMQPQueueDeclaration(name: topology.dead, passive: true), record: false
            ).messageCount
            var position = 0
            var kept = 0
            // Visit no more than there were: a requeued letter may come back at once.
            while position < min(max(count, 1), limit),
                let delivery = try await next(on: channel, isLeft: position < count)
            {
                // A busy broker may report a quorum queue as empty; the count that comes with a message is right.
                if position == 0, let left = delivery.messagesLeft { count = 1 + left }
                position += 1
                let letter = DeadLetter(
                    delivery.message, strayKey: delivery.exchange == topology.events ? delivery.routingKey : nil)
                let fate = try await body(letter, delivery.message)
                switch fate {
                case .kept:
                    kept += 1
                    if delivery.deliveryCount ?? 0 >= Self.maxDeliveries {
                        try await renew(delivery, letter, on: channel)
                    }
                case .requeued:
                    try await requeue(delivery, letter, on: channel)
                case .dropped:
                    try await delivery.ack()
                }
                try done(letter, delivery.message, fate)
            }
            await channel.close()
            await waitForReturn(of: kept)
            return (position, count)
        } catch {
            await channel.close()
            throw error
        }
    }

    /// The next letter; nil if there is none.
    /// - Parameter isLeft: whether the queue's count says that there is one. A busy broker reports a quorum queue as empty while letters
    ///   come back to it from a channel that has closed, and then is asked again.
    private func next(on channel: AMQPChannel, isLeft: Bool) async throws -> AMQPDelivery? {
        for ask in 0..<Self.maxAsks {
            if let delivery = try await channel.get(queue: topology.dead) { return delivery }
            guard isLeft, ask + 1 < Self.maxAsks else { break }
            try await Task.sleep(for: Self.pauseBetweenAsks)
        }
        return nil
    }

    /// Waits until the kept letters are back in the queue, which is a moment after the channel has closed, so that the next
    /// command finds them.
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

    /// Why a letter cannot be published again; nil if it can.
    package func obstacle(to letter: DeadLetter) -> DeadLetterError? {
        if letter.isExcerpt { return .excerpt(letter) }
        return target(of: letter) == nil ? .noOrigin(letter) : nil
    }

    private func requeue(_ delivery: AMQPDelivery, _ letter: DeadLetter, on channel: AMQPChannel) async throws {
        if let obstacle = obstacle(to: letter) { throw obstacle }
        guard let target = target(of: letter) else { throw DeadLetterError.noOrigin(letter) }
        try await channel.publish(
            Self.cleaned(delivery.message), exchange: target.exchange, routingKey: target.key, mandatory: true)
        try await delivery.ack()
    }

    private func renew(_ delivery: AMQPDelivery, _ letter: DeadLetter, on channel: AMQPChannel) async throws {
        var message = delivery.message.forRepublishing()
        // The copy comes by another exchange, and no more says where it was to go.
        message.properties.headers[DeadLetter.strayHeader] = letter.strayKey.map { .string($0) }
        message.properties.headers["x-delivery-count"] = nil
        try await channel.publish(message, exchange: topology.dead, routingKey: "", mandatory: true)
        try await delivery.ack()
    }

    /// The exchange and routing key that lead to the queue that a letter died in, or was to go to; nil if it is no queue of this cluster.
    func target(of letter: DeadLetter) -> (exchange: String, key: String)? {
        if letter.queue == topology.outcomes { return (topology.outcomes, "") }
        // Any slice's owner passes it on to the right one.
        if letter.queue == nil, letter.strayKey != nil { return (topology.slices, "0") }
        let start = "\(topology.prefix).slice."
        guard let queue = letter.queue, queue.hasPrefix(start), let number = Int(queue.dropFirst(start.count)),
            (0..<slices.value).contains(number)
        else { return nil }
        return (topology.slices, String(number))
    }

    /// The message without the headers that were added when it died.
    static func cleaned(_ message: AMQPMessage) -> AMQPMessage {
        var message = message
        message.properties.headers = message.properties.headers.filter { key, _ in
            !key.hasPrefix("x-death") && !key.hasPrefix("x-first-death") && !key.hasPrefix("x-last-death")
                && !key.hasPrefix("x-sluice-") && !["x-delivery-count", "x-acquired-count"].contains(key)
        }
        return message.forRepublishing()
    }
}

/// Why a dead letter cannot be published again.
package enum DeadLetterError: Error, Sendable, CustomStringConvertible {
    /// The letter does not say in which queue it died.
    case noOrigin(DeadLetter)
    /// The letter has only the beginning of the message.
    case excerpt(DeadLetter)

    package var description: String {
        switch self {
        case .noOrigin(let letter):
            "dead letter \(letter.name) came from \(letter.queue ?? "an unknown queue"), which is no queue of this cluster:"
                + " publish it again with sluice publish, or drop it"
        case .excerpt(let letter):
            "dead letter \(letter.name) has the first \(letter.kept) of \(letter.length) bytes, and cannot"
                + " be published again\(letter.clientFile.map { ": client realm \($0), which sent it, was told to reset" } ?? ""). Drop it"
        }
    }
}
