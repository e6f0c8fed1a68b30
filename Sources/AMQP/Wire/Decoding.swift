import CRabbitMQ
import Glibc

// Copies out of the library's buffers, which are reused as soon as a frame is dealt with.

extension amqp_bytes_t {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : len) }

    /// Whether these are the bytes of a text.
    func matches(_ text: String) -> Bool {
        let same = text.utf8.withContiguousStorageIfAvailable { known in
            guard known.count == len, let left = known.baseAddress, let bytes else { return known.count == len }
            return memcmp(left, bytes, known.count) == 0
        }
        return same ?? (self.text == text)
    }

    /// The text, with what is not UTF-8 replaced.
    var text: String { String(decoding: buffer, as: UTF8.self) }
}

extension AMQPValue {
    init(_ field: amqp_field_value_t, depth: Int = 0) {
        switch field.type {
        case AMQP_FIELD_KIND_BOOLEAN: self = .bool(field.value.boolean != 0)
        case AMQP_FIELD_KIND_I8: self = .int(Int64(field.value.i8))
        case AMQP_FIELD_KIND_U8: self = .int(Int64(field.value.u8))
        case AMQP_FIELD_KIND_I16: self = .int(Int64(field.value.i16))
        case AMQP_FIELD_KIND_U16: self = .int(Int64(field.value.u16))
        case AMQP_FIELD_KIND_I32: self = .int(Int64(field.value.i32))
        case AMQP_FIELD_KIND_U32: self = .int(Int64(field.value.u32))
        case AMQP_FIELD_KIND_I64: self = .int(field.value.i64)
        case AMQP_FIELD_KIND_U64: self = .int(Int64(clamping: field.value.u64))
        case AMQP_FIELD_KIND_F32: self = .double(Double(field.value.f32))
        case AMQP_FIELD_KIND_F64: self = .double(field.value.f64)
        case AMQP_FIELD_KIND_DECIMAL:
            self = .double(Double(field.value.decimal.value) * pow(10, -Double(field.value.decimal.decimals)))
        case AMQP_FIELD_KIND_UTF8:
            let buffer = field.value.bytes.buffer
            self = String(validating: buffer, as: UTF8.self).map(AMQPValue.string) ?? .bytes(Array(buffer))
        case AMQP_FIELD_KIND_BYTES: self = .bytes(Array(field.value.bytes.buffer))
        case AMQP_FIELD_KIND_TIMESTAMP: self = .timestamp(field.value.u64)
        case AMQP_FIELD_KIND_TABLE where depth < Arena.maxDepth:
            self = .table(AMQPTable(field.value.table, depth: depth + 1))
        case AMQP_FIELD_KIND_ARRAY where depth < Arena.maxDepth:
            let array = field.value.array
            let elements = UnsafeBufferPointer(start: array.entries, count: max(0, Int(array.num_entries)))
            self = .array(elements.map { AMQPValue($0, depth: depth + 1) })
        default: self = .void
        }
    }
}

extension AMQPTable {
    init(_ table: amqp_table_t, depth: Int = 0) {
        self.init()
        for entry in UnsafeBufferPointer(start: table.entries, count: Swift.max(0, Int(table.num_entries))) {
            self[entry.key.text] = AMQPValue(entry.value, depth: depth)
        }
    }
}

/// The last text that was read from one field of the messages. A text that repeats from message to message is then not
/// copied every time.
struct TextCache {
    private var last = ""

    mutating func text(_ bytes: amqp_bytes_t) -> String {
        let buffer = bytes.buffer
        // Shorter texts need no memory of their own.
        guard buffer.count > 15 else { return String(decoding: buffer, as: UTF8.self) }
        let same = last.utf8.withContiguousStorageIfAvailable { known in
            guard known.count == buffer.count, let left = known.baseAddress, let right = buffer.baseAddress else {
                return false
            }
            return memcmp(left, right, known.count) == 0
        }
        if same != true { last = String(decoding: buffer, as: UTF8.self) }
        return last
    }
}

/// Reads the properties of messages, and remembers the texts that tend to repeat.
struct PropertiesReader {
    private var contentType = TextCache()
    private var replyTo = TextCache()
    private var type = TextCache()
    private var appID = TextCache()

    mutating func read(_ source: amqp_basic_properties_t) -> AMQPProperties {
        var result = AMQPProperties(persistent: false)
        let flags = source._flags
        func has(_ flag: Int32) -> Bool { flags & amqp_flags_t(bitPattern: flag) != 0 }
        if has(AMQP_BASIC_CONTENT_TYPE_FLAG) { result.contentType = contentType.text(source.content_type) }
        if has(AMQP_BASIC_CONTENT_ENCODING_FLAG) { result.contentEncoding = source.content_encoding.text }
        if has(AMQP_BASIC_HEADERS_FLAG) { result.headers = AMQPTable(source.headers) }
        if has(AMQP_BASIC_DELIVERY_MODE_FLAG) { result.persistent = source.delivery_mode == 2 }
        if has(AMQP_BASIC_PRIORITY_FLAG) { result.priority = source.priority }
        if has(AMQP_BASIC_CORRELATION_ID_FLAG) { result.correlationID = source.correlation_id.text }
        if has(AMQP_BASIC_REPLY_TO_FLAG) { result.replyTo = replyTo.text(source.reply_to) }
        if has(AMQP_BASIC_EXPIRATION_FLAG) { result.expiration = source.expiration.text }
        if has(AMQP_BASIC_MESSAGE_ID_FLAG) { result.messageID = source.message_id.text }
        if has(AMQP_BASIC_TIMESTAMP_FLAG) { result.timestamp = source.timestamp }
        if has(AMQP_BASIC_TYPE_FLAG) { result.type = type.text(source.type) }
        if has(AMQP_BASIC_USER_ID_FLAG) { result.userID = source.user_id.text }
        if has(AMQP_BASIC_APP_ID_FLAG) { result.appID = appID.text(source.app_id) }
        return result
    }
}
