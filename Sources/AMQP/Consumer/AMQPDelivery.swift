/// A message that the broker delivered and that awaits an answer.
///
/// The answer goes out with the connection's next write; `ack` and `reject` return at once. The broker delivers a
/// message again that was not answered when its connection or channel went away; the answer to the earlier delivery is
/// then dropped.
public struct AMQPDelivery: Sendable {
    /// The message.
    public let message: AMQPMessage
    /// The exchange it was published to; empty for the default one.
    public let exchange: String
    /// The key it was published with.
    public let routingKey: String
    /// Whether it was delivered before and not acknowledged.
    public let redelivered: Bool
    /// The broker's number for this delivery, on its channel.
    public let deliveryTag: UInt64
    /// The consumer it came through; nil for a message that was fetched with `get`.
    public let consumerTag: String?
    /// How many were left in the queue when this one was fetched with `get`; nil for one that came through a consumer.
    public let messagesLeft: Int?
    /// Which connection it came over: the generation of `AMQPConnectionState.connected`.
    public let generation: Int

    let epoch: UInt64
    let channel: ChannelHandle

    /// How often a quorum queue delivered it before, by its header `x-delivery-count`; nil at the first time.
    public var deliveryCount: Int? {
        message.properties.headers["x-delivery-count"]?.intValue.map { Int(clamping: $0) }
    }

    /// Tells the broker that the message is dealt with.
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
    /// Where it came from, without its content.
    public var description: String {
        let target = exchange.isEmpty ? "(default)" : exchange
        return "delivery \(deliveryTag) of \(message.body.count) bytes to \(target) \(routingKey)"
    }
}
