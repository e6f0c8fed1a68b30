import CRabbitMQ

/// Puts together the messages that arrive on one channel, each as a method, a header and the frames of its body.
struct IncomingMessages {
    private var content: IncomingContent?
    private var exchangeNames = TextCache()
    private var routingKeys = TextCache()
    private var properties = PropertiesReader()

    /// Whether a message has begun and is not whole yet.
    var isReceiving: Bool { content != nil }

    mutating func begin(_ purpose: IncomingContent.Purpose, exchange: amqp_bytes_t, routingKey: amqp_bytes_t) {
        content = IncomingContent(
            purpose, exchange: exchangeNames.text(exchange), routingKey: routingKeys.text(routingKey))
    }

    /// Takes a header frame or a body frame.
    ///
    /// - Returns: the message, once it is whole.
    /// - Throws: `protocolError` for a frame that does not belong there, or a message of more than `limit` bytes.
    mutating func receive(_ frame: amqp_frame_t, limit: Int) throws(AMQPError) -> IncomingContent? {
        guard content != nil else {
            throw AMQPError(.protocolError, "expected a method before the header or the body of a message")
        }
        if frame.frame_type == Frame.header {
            let header = frame.payload.properties
            guard let decoded = header.decoded, Int(header.class_id) == Frame.basicClass else {
                throw AMQPError(.protocolError, "expected the header of a message, not of class \(header.class_id)")
            }
            let source = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self)
            try content?.begin(properties.read(source.pointee), bodyBytes: header.body_size, limit: limit)
        } else {
            try content?.append(frame.payload.body_fragment.buffer)
        }
        guard let whole = content, whole.isComplete else { return nil }
        content = nil
        return whole
    }

    /// Drops the message that is arriving once it is whole, because the channel is closing.
    mutating func discard() { content?.purpose = .discarded }

    /// Forgets the message that is arriving, because its channel or connection is gone.
    mutating func clear() { content = nil }
}
