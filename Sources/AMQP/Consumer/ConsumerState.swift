/// A consumer as the connection's thread sees it.
final class ConsumerState {
    private(set) var subscription: Subscription
    var unacked = UnackedTags()
    /// False once the consumer is cancelled; it is then kept only until its deliveries are answered.
    var active = true
    /// Set when no task can take the consumer's deliveries any more.
    var dropped = false
    /// What arrived during this turn of the loop.
    private var arrived: [AMQPDelivery] = []

    init(_ subscription: Subscription) { self.subscription = subscription }

    /// Starts a cancelled consumer again, under the same tag.
    func restart(with subscription: Subscription) {
        self.subscription = subscription
        active = true
        dropped = false
    }

    /// Takes a delivery, which `handOver` passes on.
    ///
    /// - Returns: whether it is the first delivery since the last `handOver`.
    func receive(_ delivery: AMQPDelivery) -> Bool {
        unacked.append(delivery.deliveryTag)
        arrived.append(delivery)
        return arrived.count == 1
    }

    /// Passes on what has arrived to the consumer's task.
    func handOver() {
        guard !arrived.isEmpty else { return }
        subscription.buffer.append(arrived)
        arrived.removeAll(keepingCapacity: true)
    }

    /// Drops the deliveries that no task has taken: the broker delivers them again.
    func dropDeliveries() {
        arrived = []
        subscription.buffer.clear()
    }
}
