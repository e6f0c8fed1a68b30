import CRabbitMQ

/// The consumers of one channel, and the delivery tags that the consumers and `get` have not answered yet. Touches
/// neither socket nor clock.
struct ChannelConsumers {
    private var consumers: [String: ConsumerState] = [:]
    /// The consumer of the last delivery, which is mostly also that of the next.
    private var last: ConsumerState?
    /// The tags of the messages that `get` has fetched.
    private var fetched = UnackedTags()

    /// Whether there is neither a consumer nor a message that was fetched and not answered.
    var isEmpty: Bool { consumers.isEmpty && fetched.first == nil }

    subscript(tag: String) -> ConsumerState? { consumers[tag] }

    /// The subscriptions to make again when the channel is opened again.
    var subscriptions: [Subscription] { consumers.values.filter(\.active).map(\.subscription) }

    /// The consumer that a delivery names.
    mutating func find(_ tag: amqp_bytes_t) -> ConsumerState? {
        if let last, tag.matches(last.subscription.tag) { return last }
        last = consumers[tag.text]
        return last
    }

    /// Adds a consumer, before its subscription is written.
    ///
    /// - Returns: false if the channel has an active consumer with this tag.
    mutating func add(_ subscription: Subscription) -> Bool {
        if let known = consumers[subscription.tag] {
            guard !known.active else { return false }
            known.restart(with: subscription)
        } else {
            consumers[subscription.tag] = ConsumerState(subscription)
        }
        return true
    }

    /// Removes the consumer of a subscription that the broker did not accept, and ends its deliveries.
    mutating func remove(_ subscription: Subscription, _ error: AMQPError) {
        subscription.buffer.end(error)
        guard consumers[subscription.tag]?.subscription.buffer === subscription.buffer else { return }
        consumers[subscription.tag] = nil
    }

    /// Ends a consumer once its task has taken what arrived.
    mutating func retire(_ tag: String, _ error: AMQPError? = nil) {
        guard let consumer = consumers[tag] else { return }
        consumer.active = false
        consumer.handOver()
        consumer.subscription.buffer.end(error)
        removeIfDone(consumer)
    }

    /// Ends every consumer and drops what their tasks have not taken.
    mutating func endAll() {
        for consumer in consumers.values {
            consumer.active = false
            consumer.dropDeliveries()
            consumer.subscription.buffer.end()
        }
        consumers = [:]
        last = nil
    }

    /// Forgets every delivery: none can be answered any more, and the broker delivers them again.
    mutating func forgetDeliveries() {
        fetched.clear()
        for consumer in consumers.values {
            consumer.unacked.clear()
            consumer.dropDeliveries()
            removeIfDone(consumer)
        }
    }

    // MARK: Answers

    /// Records the tag of a message that `get` has fetched.
    mutating func addFetched(_ tag: UInt64) { fetched.append(tag) }

    /// Takes the tag that an acknowledgement or a rejection is about.
    ///
    /// - Returns: whether the tag was still unanswered. A second answer to one tag would close the channel.
    mutating func take(_ answer: Acknowledgement) -> Bool {
        guard let name = answer.consumerTag else { return fetched.remove(answer.tag) }
        guard let consumer = consumers[name], consumer.unacked.remove(answer.tag) else { return false }
        removeIfDone(consumer)
        return true
    }

    /// Takes the tags of one consumer that an acknowledgement of all earlier deliveries covers.
    ///
    /// - Returns: the tags, and whether they are the oldest of the whole channel: one answer on the wire covers all
    ///   tags of the channel up to its own, so it must not cover another consumer's.
    mutating func takeAll(_ answer: Acknowledgement) -> (tags: [UInt64], areOldest: Bool) {
        guard let name = answer.consumerTag, let consumer = consumers[name] else { return ([], false) }
        let tags = consumer.unacked.removeAll(upTo: answer.tag)
        guard let last = tags.last else { return ([], false) }
        let areOldest =
            consumers.values.allSatisfy { ($0.unacked.first ?? .max) > last } && (fetched.first ?? .max) > last
        removeIfDone(consumer)
        return (tags, areOldest)
    }

    private mutating func removeIfDone(_ consumer: ConsumerState) {
        guard !consumer.active, consumer.unacked.first == nil else { return }
        consumers[consumer.subscription.tag] = nil
        if last === consumer { last = nil }
    }
}
