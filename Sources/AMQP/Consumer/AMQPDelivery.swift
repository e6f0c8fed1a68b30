/// A message that the broker delivered and that awaits an answer.
///
/// `ack` and `reject` return at once; the answer goes out with the connection's next write. When a connection or a channel
/// is lost, the broker delivers the unanswered messages again, and answers to the earlier deliveries are dropped.
public struct AMQPDelivery: Sendable {
    /// The message.
    public internal(set) var message: AMQPMessage
    /// The exchange that the message was published to; empty for the default exchange.
    public let exchange: String
    /// The routing key that the message was published with.
    public let routingKey: String
    /// Whether the message was delivered before and not acknowledged.
    public let redelivered: Bool
    /// The broker's number for this delivery, on its channel.
    public let deliveryTag: UInt64
    /// The tag of the consumer; nil for a message that was fetched with `get`.
    public let consumerTag: String?
    /// How many messages were left in the queue when this one was fetched with `get`; nil for a consumer's delivery.
    public let messagesLeft: Int?
    /// The connection that brought the delivery: the generation of `AMQPConnectionState.connected`.
    public let generation: Int

    let epoch: UInt64
    let channel: ChannelHandle

    /// How often a quorum queue has delivered the message before, by the header `x-delivery-count`; nil at the first time.
    public var deliveryCount: Int? {
        message.properties.headers["x-delivery-count"]?.intValue.map { Int(clamping: $0) }
    }

    /// Acknowledges the message: the broker removes it from the queue.
    ///
    /// - Throws: `closed` when the connection was closed. After a reconnect it does nothing: the broker delivers again.
    public func ack() async throws(AMQPError) {
        try acknowledge(.ack)
    }

    /// Gives the message back: to the queue, or to the queue's dead-letter exchange.
    ///
    /// - Throws: `closed` when the connection was closed.
    public func reject(requeue: Bool) async throws(AMQPError) {
        try acknowledge(.reject(requeue: requeue))
    }

    func acknowledge(_ kind: Acknowledgement.Kind) throws(AMQPError) {
        try channel.send(.acknowledge(channel.id, Acknowledgement(kind, self)))
    }
}

extension AMQPDelivery: CustomStringConvertible {
    /// The exchange, routing key and size, without the content.
    public var description: String {
        let target = exchange.isEmpty ? "(default)" : exchange
        return "delivery \(deliveryTag) of \(message.body.count) bytes to \(target) \(routingKey)"
    }
}
