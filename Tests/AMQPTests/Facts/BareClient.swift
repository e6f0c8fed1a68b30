import AMQP
import CRabbitMQ
import Dispatch
import Glibc
import TestSupport

/// The C library without anything of ours around it: shows what the broker does, frame by frame, and does what our client
/// never would.
///
/// Unchecked: everything happens on its queue.
final class BareClient: @unchecked Sendable {
    /// What the broker sent on the channel.
    enum Event: Equatable {
        case ack(UInt64, multiple: Bool)
        case nack(UInt64)
        case returned(String)
        case delivered(String, tag: UInt64)
        case cancelled(String)
        case closed(replyCode: Int)
        case other(String)
    }

    private let queue = DispatchQueue(label: "bare-client")
    private var state: amqp_connection_state_t?

    init() async throws {
        let url = try TestBroker.requireURL()
        let endpoint = try AMQPConfiguration(url: url).endpoints[0]
        try await run {
            let state = amqp_new_connection()
            self.state = state
            let socket = amqp_tcp_socket_new(state)
            guard amqp_socket_open(socket, endpoint.host, Int32(endpoint.port)) == 0 else {
                throw TestBrokerError("the broker cannot be reached")
            }
            var none = amqp_table_t(num_entries: 0, entries: nil)
            try self.check(amqp_shim_login_plain(state, "/", 0, 131_072, 0, &none, "guest", "guest"), "log in")
            amqp_channel_open(state, 1)
            try self.check(amqp_get_rpc_reply(state), "open a channel")
        }
    }

    deinit {
        // Without a word, as a process that dies.
        if let state { amqp_destroy_connection(state) }
    }

    /// Runs C calls, which block, on a thread of their own.
    private func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    private func check(_ reply: amqp_rpc_reply_t, _ what: String) throws {
        guard reply.reply_type == AMQP_RESPONSE_NORMAL else { throw TestBrokerError("could not \(what)") }
    }

    /// `major * 100 + minor` of the broker.
    func version() async throws -> Int {
        try await run {
            let properties = amqp_get_server_properties(self.state).pointee
            for entry in UnsafeBufferPointer(start: properties.entries, count: Int(properties.num_entries))
            where Self.text(entry.key) == "version" {
                let parts = Self.text(entry.value.value.bytes).split(separator: ".").compactMap { Int($0) }
                if parts.count >= 2 { return parts[0] * 100 + parts[1] }
            }
            throw TestBrokerError("the broker does not tell its version")
        }
    }

    func confirm() async throws {
        try await run {
            amqp_confirm_select(self.state, 1)
            try self.check(amqp_get_rpc_reply(self.state), "ask for confirms")
        }
    }

    func consume(_ queue: String, prefetch: UInt16) async throws {
        try await run {
            amqp_basic_qos(self.state, 1, 0, prefetch, 0)
            try self.check(amqp_get_rpc_reply(self.state), "set the prefetch")
            let none = amqp_table_t(num_entries: 0, entries: nil)
            _ = queue.withCString { queue in
                amqp_basic_consume(
                    self.state, 1, amqp_cstring_bytes(queue), amqp_bytes_t(len: 0, bytes: nil), 0, 0, 0, none)
            }
            try self.check(amqp_get_rpc_reply(self.state), "consume \(queue)")
        }
    }

    func publish(_ body: String, to key: String, mandatory: Bool = false) async throws {
        try await run {
            // The C strings must outlive the call.
            try key.withCString { key in
                try body.withCString { body in
                    let status = amqp_basic_publish(
                        self.state, 1, amqp_bytes_t(len: 0, bytes: nil), amqp_cstring_bytes(key), mandatory ? 1 : 0, 0,
                        nil, amqp_cstring_bytes(body))
                    guard status == 0 else { throw TestBrokerError("could not publish") }
                }
            }
        }
    }

    func ack(_ tag: UInt64) async throws { try await run { _ = amqp_basic_ack(self.state, 1, tag, 0) } }
    func nack(_ tag: UInt64) async throws { try await run { _ = amqp_basic_nack(self.state, 1, tag, 0, 1) } }

    /// The next things that the broker sends.
    func next(_ count: Int) async throws -> [Event] {
        var events: [Event] = []
        for _ in 0..<count { events.append(try await next()) }
        return events
    }

    func next() async throws -> Event {
        while true {
            if let event = try await run({ try self.poll() }) { return event }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func poll() throws -> Event? {
        guard let frame = try nextFrame(), frame.channel == 1, frame.frame_type == 1,
            let arguments = frame.payload.method.decoded
        else { return nil }
        switch frame.payload.method.id {
        case 60 << 16 | 80:
            let ack = arguments.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            return .ack(ack.delivery_tag, multiple: ack.multiple != 0)
        case 60 << 16 | 120:
            return .nack(arguments.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee.delivery_tag)
        case 60 << 16 | 50:
            return .returned(try readBody())
        case 60 << 16 | 60:
            let tag = arguments.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee.delivery_tag
            return .delivered(try readBody(), tag: tag)
        case 60 << 16 | 30:
            return .cancelled(
                Self.text(arguments.assumingMemoryBound(to: amqp_basic_cancel_t.self).pointee.consumer_tag))
        case 20 << 16 | 40:
            let close = arguments.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
            return .closed(replyCode: Int(close.reply_code))
        case let id:
            return .other("\(id >> 16).\(id & 0xFFFF)")
        }
    }

    /// The frames of a message that follow its method.
    private func readBody() throws -> String {
        var text = ""
        var expected: Int?
        while expected.map({ text.utf8.count < $0 }) ?? true {
            guard let frame = try nextFrame() else { continue }
            switch frame.frame_type {
            case 2: expected = Int(frame.payload.properties.body_size)
            case 3: text += Self.text(frame.payload.body_fragment)
            default: throw TestBrokerError("expected the rest of a message")
            }
        }
        return text
    }

    private func nextFrame() throws -> amqp_frame_t? {
        var patience = timeval(tv_sec: 0, tv_usec: 20_000)
        var frame = amqp_frame_t()
        let status = amqp_simple_wait_frame_noblock(state, &frame, &patience)
        if status == AMQP_STATUS_TIMEOUT.rawValue { return nil }
        guard status == 0 else { throw TestBrokerError("reading: \(String(cString: amqp_error_string2(status)))") }
        return frame
    }

    private static func text(_ bytes: amqp_bytes_t) -> String {
        String(
            decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len),
            as: UTF8.self)
    }
}
