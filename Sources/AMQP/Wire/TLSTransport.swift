import CRabbitMQ
import Glibc

/// TLS, which only the library can read and write. It takes frames one by one, so ours are taken apart again for it,
/// and it waits until the socket has taken each; its heartbeats stay on to bound that wait.
final class TLSTransport: Transport {
    private let library: LibraryConnection
    private var pool = amqp_pool_t()
    let noticesSilence = true

    init(_ library: LibraryConnection) {
        self.library = library
        init_amqp_pool(&pool, 4096)
    }

    deinit { empty_amqp_pool(&pool) }

    var descriptor: Int32 { amqp_get_sockfd(library.state) }

    func send(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Int {
        var sent = 0
        while let base = bytes.baseAddress, bytes.count - sent >= Frame.overhead {
            let start = base + sent
            let size = Int(UInt32(bigEndian: (start + 3).loadUnaligned(as: UInt32.self)))
            let total = size + Frame.overhead
            guard total <= bytes.count - sent else { break }
            var frame = try decode(start, size)
            let status = amqp_send_frame(library.state, &frame)
            recycle_amqp_pool(&pool)
            guard status == AMQP_STATUS_OK.rawValue else {
                throw AMQPError.fromLibrary(status, .connectionLost, "writing to the broker")
            }
            sent += total
        }
        return sent
    }

    private func decode(_ start: UnsafeRawPointer, _ size: Int) throws(AMQPError) -> amqp_frame_t {
        var frame = amqp_frame_t()
        frame.frame_type = start.load(as: UInt8.self)
        frame.channel = UInt16(bigEndian: (start + 1).loadUnaligned(as: UInt16.self))
        let payload = UnsafeMutableRawPointer(mutating: start + Frame.headBytes)
        var status: Int32 = 0
        switch frame.frame_type {
        case Frame.method:
            frame.payload.method.id = UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self))
            status = amqp_decode_method(
                frame.payload.method.id, &pool, amqp_bytes_t(len: size - 4, bytes: payload + 4),
                &frame.payload.method.decoded)
        case Frame.header:
            frame.payload.properties.class_id = UInt16(bigEndian: payload.loadUnaligned(as: UInt16.self))
            frame.payload.properties.body_size = UInt64(bigEndian: (payload + 4).loadUnaligned(as: UInt64.self))
            status = amqp_decode_properties(
                frame.payload.properties.class_id, &pool, amqp_bytes_t(len: size - 12, bytes: payload + 12),
                &frame.payload.properties.decoded)
        case Frame.body:
            frame.payload.body_fragment = amqp_bytes_t(len: size, bytes: payload)
        default:
            break
        }
        guard status >= 0 else { throw AMQPError.fromLibrary(status, .protocolError, "encoding a frame") }
        return frame
    }

    func receive(_ handle: (amqp_frame_t) throws(AMQPError) -> Void) throws(AMQPError) -> (bytes: Int, more: Bool) {
        // One frame after the other until nothing is left, neither with the library nor in the TLS layer: `poll` sees
        // only the socket. A bounded number, so that the thread also gets to write.
        var frames = 0
        while frames < 1_000 {
            guard try library.receiveOne(handle) else { return (frames, false) }
            frames += 1
        }
        return (frames, true)
    }
}
