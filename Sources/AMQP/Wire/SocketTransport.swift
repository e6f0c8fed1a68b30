import CRabbitMQ
import Glibc

/// Plain TCP: the library decodes, the reads and writes are our own.
///
/// The library's own writes wait until the socket takes all of a frame. A thread that waits there reads nothing, while
/// the broker may be waiting for us to read before it reads on; so a connection that publishes and consumes much could
/// stall until a heartbeat is missed. Writing many frames with one call is also what makes small messages cheap.
final class SocketTransport: Transport {
    private let library: LibraryConnection
    private let input: UnsafeMutableRawBufferPointer
    let descriptor: Int32
    let noticesSilence = false

    init(_ library: LibraryConnection) {
        self.library = library
        self.descriptor = amqp_get_sockfd(library.state)
        self.input = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    }

    deinit { input.deallocate() }

    func send(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Int {
        var sent = 0
        while sent < bytes.count, let base = bytes.baseAddress {
            let result = Glibc.send(descriptor, base + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            if result >= 0 {
                sent += result
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                break
            } else if errno != EINTR {
                throw AMQPError(.connectionLost, "writing to the broker: \(String(cString: strerror(errno)))")
            }
        }
        return sent
    }

    func receive(_ handle: (amqp_frame_t) throws(AMQPError) -> Void) throws(AMQPError) -> (bytes: Int, more: Bool) {
        if try library.receiveBuffered(handle) { return (1, true) }
        let received = recv(descriptor, input.baseAddress, input.count, 0)
        guard received > 0 else {
            if received == 0 { throw AMQPError(.connectionLost, "the broker closed the connection") }
            if errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return (0, false) }
            throw AMQPError(.connectionLost, "reading from the broker: \(String(cString: strerror(errno)))")
        }
        var offset = 0
        while offset < received {
            let rest = amqp_bytes_t(len: received - offset, bytes: input.baseAddress.map { $0 + offset })
            var frame = amqp_frame_t()
            let used = amqp_handle_input(library.state, rest, &frame)
            guard used > 0 else {
                throw AMQPError.fromLibrary(used, .protocolError, "expected a frame from the broker")
            }
            offset += Int(used)
            if frame.frame_type != 0 {
                try handle(frame)
                amqp_maybe_release_buffers_on_channel(library.state, frame.channel)
            }
        }
        return (received, received == input.count)
    }
}
