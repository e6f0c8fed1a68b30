import AMQP

/// Deliveries that a slice's runner has taken and not dealt with yet, in the order in which they came, each as it came and as it
/// reads.
struct HeldDeliveries {
    private var entries: [(delivery: AMQPDelivery, content: SliceDelivery)] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var last: AMQPDelivery? { entries.last?.delivery }
    var contents: [SliceDelivery] { entries.map(\.content) }
    var bytes: Int { entries.reduce(0) { $0 + $1.delivery.message.body.count } }
    /// When each was sent, in seconds of Unix time, where its sender says so.
    var sentAt: [UInt64] { entries.compactMap(\.delivery.message.properties.timestamp) }

    mutating func add(_ deliveries: [AMQPDelivery], _ contents: [SliceDelivery]) {
        entries += zip(deliveries, contents).map { ($0, $1) }
    }

    mutating func removeAll() { entries = [] }

    /// Acknowledges what was dealt with, and holds on to the rest.
    ///
    /// - Parameter left: the indices of those that were not dealt with, ascending.
    /// - Returns: the acknowledged ones.
    mutating func acknowledge(butFor left: [Int], of consumer: AMQPConsumer) async throws -> [AMQPDelivery] {
        let deliveries = entries.map(\.delivery)
        let first = left.first ?? deliveries.count
        if first > 0 { try await consumer.ack(upTo: deliveries[first - 1]) }
        var done = Array(deliveries[..<first])
        let kept = Set(left)
        for index in deliveries.indices[first...] where !kept.contains(index) {
            try await deliveries[index].ack()
            done.append(deliveries[index])
        }
        entries = left.map { [entries] in entries[$0] }
        return done
    }
}

extension AMQPConsumer {
    /// Waits a little for the turn of those that wait, or until another realm's messages come.
    ///
    /// - Parameter isFull: no more may be taken.
    func rest(isFull: Bool) async {
        if isFull {
            try? await Task.sleep(for: .milliseconds(10))
        } else {
            await waitForDelivery(upTo: .milliseconds(10))
        }
    }
}
