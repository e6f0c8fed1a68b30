/// A message that is arriving: a method, then a header, then the frames of its body.
struct IncomingContent {
    /// Why the broker sends the message.
    enum Purpose {
        case delivery(ConsumerState?, tag: UInt64, redelivered: Bool)
        case fetched(tag: UInt64, redelivered: Bool, left: Int)
        case returned(replyCode: Int, text: String)
        /// The message is dropped when it is whole: the channel is closing.
        case discarded
    }

    var purpose: Purpose
    let exchange: String
    let routingKey: String
    private var bodyBytes: Int?
    private(set) var message = AMQPMessage(body: [UInt8]())

    init(_ purpose: Purpose, exchange: String, routingKey: String) {
        self.purpose = purpose
        self.exchange = exchange
        self.routingKey = routingKey
    }

    /// Whether the whole body has arrived.
    var isComplete: Bool { bodyBytes == message.body.count }

    /// Takes the header's content.
    mutating func begin(_ properties: AMQPProperties, bodyBytes: UInt64, limit: Int) throws(AMQPError) {
        guard self.bodyBytes == nil else {
            throw AMQPError(.protocolError, "expected a body frame, not a second header")
        }
        guard bodyBytes <= UInt64(max(limit, 0)) else {
            throw AMQPError(.protocolError, "expected a message of at most \(limit) bytes, not \(bodyBytes)")
        }
        self.bodyBytes = Int(bodyBytes)
        message.properties = properties
    }

    /// Takes the content of a body frame.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) {
        guard let bodyBytes, bytes.count <= bodyBytes - message.body.count else {
            throw AMQPError(.protocolError, "expected a body of \(bodyBytes ?? 0) bytes, and more came")
        }
        if message.body.isEmpty {
            if bytes.count == bodyBytes {
                message.body = Array(bytes)
                return
            }
            message.body.reserveCapacity(min(bodyBytes, 16 << 20))
        }
        message.body.append(contentsOf: bytes)
    }
}
