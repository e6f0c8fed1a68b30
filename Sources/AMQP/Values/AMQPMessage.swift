/// A message: a body and what describes it.
public struct AMQPMessage: Sendable, Hashable {
    /// The content, of any size; it travels in as many frames as it needs.
    public var body: [UInt8]
    /// The properties that describe the content.
    public var properties: AMQPProperties

    /// A message of bytes.
    public init(body: [UInt8], properties: AMQPProperties = AMQPProperties()) {
        self.body = body
        self.properties = properties
    }

    /// A message of text, in UTF-8.
    public init(body: String, properties: AMQPProperties = AMQPProperties()) {
        self.init(body: Array(body.utf8), properties: properties)
    }
}
