import CRabbitMQ

/// The frames that wait for the socket. All are whole except the first, of which the socket may have taken a part.
struct OutputBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var head = 0
    /// The largest frame that the broker has agreed to.
    var frameMax = 131_072
    private var tail = 0

    private static let initialBytes = 256 << 10
    /// A buffer larger than this gives its memory back once it is empty.
    private static let keptBytes = 4 << 20

    init() {
        capacity = Self.initialBytes
        base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    var count: Int { tail - head }

    /// The bytes that wait to be sent; valid until the buffer is changed.
    var pending: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base + head, count: tail - head) }

    /// Removes the first `byteCount` bytes, because they are sent.
    mutating func consume(_ byteCount: Int) {
        head += byteCount
        if head >= tail { clear() }
    }

    mutating func clear() {
        head = 0
        tail = 0
        if capacity > Self.keptBytes {
            base.deallocate()
            capacity = Self.initialBytes
            base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        }
    }

    private mutating func reserve(_ byteCount: Int) {
        guard capacity - tail < byteCount else { return }
        let used = tail - head
        if capacity - used >= byteCount, head >= used {
            // Move what is left to the front: it costs no more than the bytes that were already sent.
            base.copyMemory(from: base + head, byteCount: used)
        } else {
            let newCapacity = max(capacity * 2, used + byteCount)
            let newBase = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
            newBase.copyMemory(from: base + head, byteCount: used)
            base.deallocate()
            base = newBase
            capacity = newCapacity
        }
        head = 0
        tail = used
    }

    mutating func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            (base + tail).copyMemory(from: start, byteCount: source.count)
        }
        tail += bytes.count
    }

    mutating func appendHeartbeat() {
        reserve(Frame.overhead)
        Frame.begin(Frame.heartbeat, channel: 0, payloadBytes: 0, at: base + tail)
        Frame.end(at: base + tail + Frame.headBytes)
        tail += Frame.overhead
    }

    /// Appends a method, a C structure of the library, in its frame.
    mutating func appendMethod<Arguments: BitwiseCopyable>(
        _ id: UInt32, _ arguments: Arguments, channel: UInt16
    ) throws(AMQPError) {
        reserve(frameMax)
        var arguments = arguments
        let start = base + tail
        let room = amqp_bytes_t(len: frameMax - Frame.overhead - 4, bytes: start + 11)
        let size = Int(amqp_encode_method(id, &arguments, room))
        guard size >= 0 else {
            throw AMQPError(
                .invalidArgument, "expected names of at most 255 bytes and arguments that fit a frame of \(frameMax)")
        }
        Frame.begin(Frame.method, channel: channel, payloadBytes: size + 4, at: start)
        (start + 7).storeBytes(of: id.bigEndian, as: UInt32.self)
        Frame.end(at: start + 11 + size)
        tail += size + 4 + Frame.overhead
    }

    /// Appends a body in as many frames as it takes.
    mutating func appendBody(_ body: [UInt8], channel: UInt16) {
        let most = frameMax - Frame.overhead
        body.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            var offset = 0
            while offset < source.count {
                let size = min(most, source.count - offset)
                reserve(size + Frame.overhead)
                let target = base + tail
                Frame.begin(Frame.body, channel: channel, payloadBytes: size, at: target)
                (target + Frame.headBytes).copyMemory(from: start + offset, byteCount: size)
                Frame.end(at: target + Frame.headBytes + size)
                tail += size + Frame.overhead
                offset += size
            }
        }
    }
}
