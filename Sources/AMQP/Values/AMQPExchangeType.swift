/// How an exchange chooses the queues of a message.
public enum AMQPExchangeType: String, Sendable, Hashable {
    /// Chooses queues by the exact routing key.
    case direct
    /// Chooses every bound queue.
    case fanout
    /// Chooses queues by a pattern over the words of the routing key.
    case topic
}
