/// How an exchange chooses the queues of a message.
public enum AMQPExchangeType: String, Sendable, Hashable {
    /// By the exact routing key.
    case direct
    /// To every bound queue.
    case fanout
    /// By a pattern over the words of the routing key.
    case topic
}
