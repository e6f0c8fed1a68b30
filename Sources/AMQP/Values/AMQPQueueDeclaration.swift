/// A queue to declare.
public struct AMQPQueueDeclaration: Sendable, Hashable {
    /// The name; an empty one asks for a name that nobody else uses, which `AMQPQueueInfo` tells and reconnecting
    /// keeps.
    public var name: String
    /// Whether the queue survives a restart of the broker.
    public var durable: Bool
    /// Whether only this connection may use the queue, which goes when the connection does.
    public var exclusive: Bool
    /// Whether the queue goes when its last consumer does.
    public var autoDelete: Bool
    /// Whether to only ask whether it exists: `notFound` when it does not.
    public var passive: Bool
    /// Arguments, such as `x-queue-type`.
    public var arguments: AMQPTable

    /// A durable queue unless told otherwise.
    public init(
        name: String, durable: Bool = true, exclusive: Bool = false, autoDelete: Bool = false, passive: Bool = false,
        arguments: AMQPTable = [:]
    ) {
        self.name = name
        self.durable = durable
        self.exclusive = exclusive
        self.autoDelete = autoDelete
        self.passive = passive
        self.arguments = arguments
    }
}

/// What the broker says about a queue that was declared.
public struct AMQPQueueInfo: Sendable, Hashable {
    /// The queue's name.
    public var name: String
    /// How many messages are ready; those delivered and unacknowledged do not count.
    public var messageCount: Int
    /// How many consumers are attached.
    public var consumerCount: Int

    /// What is known about a queue; for those who stand in for a broker.
    public init(name: String, messageCount: Int, consumerCount: Int) {
        self.name = name
        self.messageCount = messageCount
        self.consumerCount = consumerCount
    }
}
