import CRabbitMQ

/// Memory for the C structures of one call: everything made in it lives until it goes out of scope.
struct Arena: ~Copyable {
    private var pool = amqp_pool_t()

    /// How deep a table may nest; the broker has a limit of its own.
    static let maxDepth = 64

    init() { init_amqp_pool(&pool, 1024) }

    deinit {
        var pool = pool
        empty_amqp_pool(&pool)
    }

    private mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let memory = amqp_pool_alloc(&pool, max(byteCount, 1)) else {
            preconditionFailure("no memory for \(byteCount) bytes")
        }
        return memory
    }

    mutating func bytes(_ source: UnsafeRawBufferPointer) -> amqp_bytes_t {
        let target = allocate(source.count)
        if let base = source.baseAddress { target.copyMemory(from: base, byteCount: source.count) }
        return amqp_bytes_t(len: source.count, bytes: target)
    }

    mutating func bytes(_ text: String) -> amqp_bytes_t {
        var text = text
        return text.withUTF8 { bytes(UnsafeRawBufferPointer($0)) }
    }

    /// A text that AMQP gives a one-byte length.
    mutating func shortText(_ text: String, _ what: String) throws(AMQPError) -> amqp_bytes_t {
        guard text.utf8.count <= 255 else {
            throw AMQPError(.invalidArgument, "expected at most 255 bytes for the \(what), not \(text.utf8.count)")
        }
        return bytes(text)
    }

    mutating func table(_ table: AMQPTable, depth: Int = 0) throws(AMQPError) -> amqp_table_t {
        guard !table.isEmpty else { return amqp_table_t(num_entries: 0, entries: nil) }
        guard depth < Self.maxDepth else {
            throw AMQPError(.invalidArgument, "expected tables nested at most \(Self.maxDepth) deep")
        }
        let memory = allocate(table.count * MemoryLayout<amqp_table_entry_t>.stride)
        let entries = memory.bindMemory(to: amqp_table_entry_t.self, capacity: table.count)
        var index = 0
        for (key, value) in table {
            let name = try shortText(key, "key of a table")
            let field = try self.value(value, depth: depth + 1)
            (entries + index).initialize(to: amqp_table_entry_t(key: name, value: field))
            index += 1
        }
        return amqp_table_t(num_entries: Int32(clamping: table.count), entries: entries)
    }

    private mutating func value(_ value: AMQPValue, depth: Int) throws(AMQPError) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .bool(let flag):
            field.type = AMQP_FIELD_KIND_BOOLEAN
            field.value.boolean = flag.flag
        case .int(let number):
            field.type = AMQP_FIELD_KIND_I64
            field.value.i64 = number
        case .double(let number):
            field.type = AMQP_FIELD_KIND_F64
            field.value.f64 = number
        case .string(let text):
            field.type = AMQP_FIELD_KIND_UTF8
            field.value.bytes = bytes(text)
        case .bytes(let content):
            field.type = AMQP_FIELD_KIND_BYTES
            field.value.bytes = content.withUnsafeBytes { bytes($0) }
        case .timestamp(let seconds):
            field.type = AMQP_FIELD_KIND_TIMESTAMP
            field.value.u64 = seconds
        case .table(let nested):
            field.type = AMQP_FIELD_KIND_TABLE
            field.value.table = try table(nested, depth: depth)
        case .array(let elements):
            field.type = AMQP_FIELD_KIND_ARRAY
            field.value.array = try array(elements, depth: depth)
        case .void:
            field.type = AMQP_FIELD_KIND_VOID
        }
        return field
    }

    private mutating func array(_ elements: [AMQPValue], depth: Int) throws(AMQPError) -> amqp_array_t {
        guard !elements.isEmpty else { return amqp_array_t(num_entries: 0, entries: nil) }
        guard depth < Self.maxDepth else {
            throw AMQPError(.invalidArgument, "expected arrays nested at most \(Self.maxDepth) deep")
        }
        let memory = allocate(elements.count * MemoryLayout<amqp_field_value_t>.stride)
        let entries = memory.bindMemory(to: amqp_field_value_t.self, capacity: elements.count)
        for (index, element) in elements.enumerated() {
            (entries + index).initialize(to: try value(element, depth: depth + 1))
        }
        return amqp_array_t(num_entries: Int32(clamping: elements.count), entries: entries)
    }
}

extension amqp_field_value_t {
    /// The kind of value, as the library names it; on the wire it is a letter.
    var type: amqp_field_value_kind_t {
        get { amqp_field_value_kind_t(UInt32(kind)) }
        set { kind = UInt8(truncatingIfNeeded: newValue.rawValue) }
    }
}
