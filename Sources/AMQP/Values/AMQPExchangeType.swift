/// How an exchange chooses the queues of a message. Plug-ins add more, hence a name rather than an enumeration.
public struct AMQPExchangeType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name the broker knows it by.
    public var name: String

    /// A type by its name.
    public init(_ name: String) { self.name = name }

    /// A type by its name.
    public init(stringLiteral value: String) { self.init(value) }

    /// By the exact routing key.
    public static let direct = AMQPExchangeType("direct")
    /// To every bound queue.
    public static let fanout = AMQPExchangeType("fanout")
    /// By a pattern over the words of the routing key.
    public static let topic = AMQPExchangeType("topic")
    /// By the message's headers.
    public static let headers = AMQPExchangeType("headers")

    /// The name.
    public var description: String { name }
}
