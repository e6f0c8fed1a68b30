import Loops

/// The deliveries of one queue, one by one or in batches.
///
/// A consumer survives reconnects: the broker then delivers again what was not acknowledged, and answers to earlier
/// deliveries are dropped. The sequence ends after `cancel()`, with the channel or the connection, and when the reading task
/// is cancelled; it ends with an error when the broker cancels the consumer or refuses it after a reconnect. A consumer
/// holds at most as many deliveries as the channel's prefetch.
///
/// Dropping the last copy of a consumer cancels it, and gives deliveries that were not taken back to the queue.
public struct AMQPConsumer: AsyncSequence, Sendable {
    /// A message that awaits an answer.
    public typealias Element = AMQPDelivery

    /// The channel that the consumer belongs to.
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

    /// Stops the broker from sending more. Deliveries that have arrived can still be taken and acknowledged; then the
    /// sequence ends.
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

    /// Waits until a delivery can be taken, the consumer has ended, or the time is over.
    public func waitForDelivery(upTo time: Duration) async {
        let buffer = handle.subscription.buffer
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await buffer.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
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

/// Cancels the consumer when its last copy is dropped, and gives back the deliveries that were not taken.
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
