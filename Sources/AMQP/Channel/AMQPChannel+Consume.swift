extension AMQPChannel {
    /// Consumes a queue. Deliveries must be acknowledged; at most the channel's prefetch of them are open at any time.
    ///
    /// - Parameters:
    ///   - queue: the queue's name.
    ///   - tag: the consumer's name on this channel; nil takes a new name.
    ///   - exclusive: whether the queue must have no other consumer.
    ///   - arguments: such as `x-priority`.
    ///   - spool: where bodies wait that would take too much memory; nil: all wait in memory.
    /// - Throws: `notFound`, `accessRefused` (which is also how the broker turns down a second exclusive consumer),
    ///   `timeout`, `connectionLost`, `closed`.
    public func consume(
        queue: String, tag: String? = nil, exclusive: Bool = false, arguments: AMQPTable = [:],
        spool: AMQPSpool? = nil
    ) async throws(AMQPError) -> AMQPConsumer {
        let tag = tag ?? "consumer-\(handle.id.value)-\(handle.link.makeID())"
        let subscription = Subscription(
            queue: queue, tag: tag, exclusive: exclusive, arguments: arguments, buffer: DeliveryBuffer(spool: spool))
        _ = try await request(.consume(subscription))
        return AMQPConsumer(channel: self, subscription: subscription)
    }

    /// Fetches one message, which must be acknowledged. For occasional use; consuming is much faster.
    ///
    /// - Returns: nil when no message is ready.
    /// - Throws: `notFound`, `accessRefused`, `timeout`, `connectionLost`, `closed`.
    public func get(queue: String) async throws(AMQPError) -> AMQPDelivery? {
        guard case .message(let delivery) = try await request(.get(queue: queue)) else { return nil }
        return delivery
    }
}
