/// A queue to declare.
public struct AMQPQueueDeclaration: Sendable, Hashable {
    /// The queue's name. An empty name asks for a new one, which the declaration returns and which stays over reconnects.
    public var name: String
    /// Whether the queue survives a restart of the broker.
    public var durable: Bool
    /// Whether only this connection may use the queue. The queue is deleted with the connection.
    public var exclusive: Bool
    /// Whether the queue is deleted when its last consumer ends.
    public var autoDelete: Bool
    /// Whether to ask only whether the queue exists: `notFound` if it does not.
    public var passive: Bool
    /// Arguments, such as `x-queue-type`.
    public var arguments: AMQPTable

    /// Describes a queue, durable by default.
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

/// The broker's answer about a queue that was declared.
public struct AMQPQueueInfo: Sendable, Hashable {
    /// The queue's name.
    public var name: String
    /// How many messages are ready; those delivered and unacknowledged do not count.
    public var messageCount: Int
    /// How many consumers are attached.
    public var consumerCount: Int

    /// Makes the description of a queue, for code that stands in for a broker.
    public init(name: String, messageCount: Int, consumerCount: Int) {
        self.name = name
        self.messageCount = messageCount
        self.consumerCount = consumerCount
    }
}
