import CRabbitMQ

/// The method and header frames of a publish, encoded by the publishing task so that the connection's thread only
/// copies.
enum MessageHead {
    /// - Returns: both frames, ready for the wire; the body frames follow them.
    static func encode(
        _ properties: AMQPProperties, bodyBytes: Int, exchange: String, routingKey: String, mandatory: Bool,
        channel: UInt16, frameMax: Int
    ) throws(AMQPError) -> [UInt8] {
        var arena = Arena()
        var method = amqp_basic_publish_t()
        method.exchange = try arena.shortText(exchange, "name of the exchange")
        method.routing_key = try arena.shortText(routingKey, "routing key")
        method.mandatory = mandatory.flag
        var content = try Self.properties(properties, in: &arena)

        var capacity = 768
        while true {
            let frames = encode(
                &method, &content, bodyBytes, channel, capacity: min(capacity, 2 * frameMax), frameMax: frameMax)
            if let frames { return frames }
            guard capacity < 2 * frameMax else {
                throw AMQPError(.invalidArgument, "expected properties and headers of less than \(frameMax) bytes")
            }
            capacity *= 4
        }
    }

    /// - Returns: nil if the frames need more than `capacity`, or the header more than a frame.
    private static func encode(
        _ method: inout amqp_basic_publish_t, _ content: inout amqp_basic_properties_t, _ bodyBytes: Int,
        _ channel: UInt16, capacity: Int, frameMax: Int
    ) -> [UInt8]? {
        let frames = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            guard let base = buffer.baseAddress.map({ UnsafeMutableRawPointer($0) }) else { return }
            // Frame: type, channel, size, then the method's id and its arguments, then the end.
            let arguments = amqp_bytes_t(len: capacity - 64, bytes: base + 11)
            let methodBytes = Int(amqp_encode_method(Method.basicPublish, &method, arguments))
            guard methodBytes >= 0 else { return }
            Frame.begin(Frame.method, channel: channel, payloadBytes: methodBytes + 4, at: base)
            (base + 7).storeBytes(of: Method.basicPublish.bigEndian, as: UInt32.self)
            Frame.end(at: base + 11 + methodBytes)
            // Header: class, weight, the body's size, then the properties.
            let header = base + 12 + methodBytes
            let room = min(capacity - (12 + methodBytes), frameMax) - 20
            guard room > 0 else { return }
            let encoded = amqp_bytes_t(len: room, bytes: header + 19)
            let propertyBytes = Int(amqp_encode_properties(UInt16(Frame.basicClass), &content, encoded))
            guard propertyBytes >= 0 else { return }
            Frame.begin(Frame.header, channel: channel, payloadBytes: propertyBytes + 12, at: header)
            (header + 7).storeBytes(of: UInt16(Frame.basicClass).bigEndian, as: UInt16.self)
            (header + 9).storeBytes(of: 0, as: UInt16.self)
            (header + 11).storeBytes(of: UInt64(bodyBytes).bigEndian, as: UInt64.self)
            Frame.end(at: header + 19 + propertyBytes)
            count = 12 + methodBytes + 20 + propertyBytes
        }
        return frames.isEmpty ? nil : frames
    }

    private static func properties(
        _ source: AMQPProperties, in arena: inout Arena
    ) throws(AMQPError) -> amqp_basic_properties_t {
        var result = amqp_basic_properties_t()
        var flags = AMQP_BASIC_DELIVERY_MODE_FLAG
        result.delivery_mode = source.persistent ? 2 : 1
        if !source.headers.isEmpty {
            flags |= AMQP_BASIC_HEADERS_FLAG
            result.headers = try arena.table(source.headers)
        }
        if let value = source.priority {
            flags |= AMQP_BASIC_PRIORITY_FLAG
            result.priority = value
        }
        if let value = source.timestamp {
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
            result.timestamp = value
        }
        func add(
            _ text: String?, _ name: String, _ flag: Int32, _ field: inout amqp_bytes_t, _ arena: inout Arena
        ) throws(AMQPError) {
            guard let text else { return }
            flags |= flag
            field = try arena.shortText(text, name)
        }
        try add(source.contentType, "content type", AMQP_BASIC_CONTENT_TYPE_FLAG, &result.content_type, &arena)
        try add(
            source.contentEncoding, "content encoding", AMQP_BASIC_CONTENT_ENCODING_FLAG, &result.content_encoding,
            &arena)
        try add(
            source.correlationID, "correlation id", AMQP_BASIC_CORRELATION_ID_FLAG, &result.correlation_id, &arena)
        try add(source.replyTo, "reply-to", AMQP_BASIC_REPLY_TO_FLAG, &result.reply_to, &arena)
        try add(source.expiration, "expiration", AMQP_BASIC_EXPIRATION_FLAG, &result.expiration, &arena)
        try add(source.messageID, "message id", AMQP_BASIC_MESSAGE_ID_FLAG, &result.message_id, &arena)
        try add(source.type, "type", AMQP_BASIC_TYPE_FLAG, &result.type, &arena)
        try add(source.userID, "user id", AMQP_BASIC_USER_ID_FLAG, &result.user_id, &arena)
        try add(source.appID, "application id", AMQP_BASIC_APP_ID_FLAG, &result.app_id, &arena)
        result._flags = amqp_flags_t(bitPattern: flags)
        return result
    }
}
