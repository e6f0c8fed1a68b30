/// The deliveries of one queue, one by one or in batches.
///
/// It survives reconnects: the broker then delivers again what was not acknowledged, and answers to earlier deliveries
/// are dropped. It ends after `cancel()`, with the channel or the connection, when its task is cancelled, and with an
/// error when the broker cancelled it or would not let it consume again. At most the channel's prefetch of deliveries
/// is held here.
///
/// Dropping the last copy of a consumer cancels it; deliveries that nobody took go back to the queue when the channel
/// closes.
public struct AMQPConsumer: AsyncSequence, Sendable {
    /// A message that awaits an answer.
    public typealias Element = AMQPDelivery

    /// The channel it consumes on.
    public let channel: AMQPChannel
    private let handle: ConsumerHandle

    init(channel: AMQPChannel, subscription: Subscription) {
        self.channel = channel
        handle = ConsumerHandle(channel: channel.handle, subscription: subscription)
    }

    /// The consumer's name on its channel.
    public var tag: String { handle.subscription.tag }

    /// The queue it consumes from.
    public var queue: String { handle.subscription.queue }

    /// How many deliveries have arrived and wait to be taken.
    public var bufferedCount: Int { handle.subscription.buffer.count }

    /// Stops the broker from sending more. What arrived before can still be taken and acknowledged; then the sequence
    /// ends.
    ///
    /// - Throws: `timeout` when the broker does not answer.
    public func cancel() async throws(AMQPError) {
        _ = try await channel.request(.cancel(tag: tag))
    }

    /// Waits for a delivery, then takes it and those that are already here.
    ///
    /// - Parameters:
    ///   - max: the most deliveries to take.
    ///   - maxBytes: the most bytes of bodies to take; the first delivery counts whatever its size.
    /// - Returns: at least one delivery; nil at the end, or when the task is cancelled.
    /// - Throws: why the broker ended the consumer.
    public func nextBatch(max: Int, maxBytes: Int = .max) async throws(AMQPError) -> [AMQPDelivery]? {
        try await handle.subscription.buffer.take(max: max, maxBytes: maxBytes)
    }

    /// Acknowledges a delivery of this consumer and all earlier ones of it that are not answered yet, never those of
    /// other consumers.
    ///
    /// - Throws: `closed` when the connection was closed.
    public func ack(upTo delivery: AMQPDelivery) async throws(AMQPError) {
        guard delivery.consumerTag == tag else {
            throw AMQPError(.invalidArgument, "expected a delivery of consumer \(tag)")
        }
        try delivery.acknowledge(.ackUpTo)
    }

    /// Takes deliveries one by one. Iterators of one consumer share its deliveries.
    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

    /// Takes deliveries one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let handle: ConsumerHandle

        /// The next delivery; nil at the end, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AMQPError) -> AMQPDelivery? {
            try await handle.subscription.buffer.take(max: 1, maxBytes: .max)?.first
        }
    }
}

/// Cancels the consumer with the last copy of it, and gives back what nobody took.
final class ConsumerHandle: Sendable {
    let channel: ChannelHandle
    let subscription: Subscription

    init(channel: ChannelHandle, subscription: Subscription) {
        self.channel = channel
        self.subscription = subscription
    }

    deinit {
        _ = channel.link.inbox.push(.dropConsumer(channel.id, subscription))
    }
}
