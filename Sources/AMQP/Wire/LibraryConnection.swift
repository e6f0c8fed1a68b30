import CRabbitMQ
import Glibc
import Loops

/// One connection of the C library, from the TCP handshake to the login. Used by one thread at a time.
final class LibraryConnection {
    /// The library's handle; it goes with this object.
    let state: amqp_connection_state_t

    // The limits that were agreed with the broker.
    private(set) var frameMax = 0
    private(set) var channelMax = 0
    private(set) var heartbeatSeconds = 0

    private let configuration: AMQPConfiguration

    /// The identity that EXTERNAL sends beside the certificate. The broker does not read it, but librabbitmq 0.11 takes an
    /// empty identity for a lack of memory.
    private static let identity = "certificate"

    init(_ configuration: AMQPConfiguration) throws(AMQPError) {
        guard let state = amqp_new_connection() else { throw AMQPError(.connectFailed, "out of memory") }
        self.state = state
        self.configuration = configuration
    }

    deinit { amqp_destroy_connection(state) }

    /// Reaches the endpoint and logs in; blocks for at most the configured time.
    func connect(to endpoint: AMQPConfiguration.Endpoint) throws(AMQPError) -> any Transport {
        let deadline = Monotonic.now().advanced(by: configuration.connectTimeout)
        let socket = try makeSocket()
        var timeout = timeval(until: deadline)
        let status = amqp_socket_open_noblock(socket, endpoint.host, Int32(clamping: endpoint.port), &timeout)
        // Before anything else changes it.
        let cause = errno
        guard status == AMQP_STATUS_OK.rawValue else {
            let doing = "connecting to \(endpoint)"
            if status == AMQP_STATUS_SOCKET_ERROR.rawValue {
                throw AMQPError(.connectFailed, "\(doing): \(Self.words(of: cause))")
            }
            throw AMQPError.fromLibrary(status, .connectFailed, doing)
                .advising(configuration.tls?.advice(after: status))
        }
        var handshake = timeval(until: deadline)
        amqp_set_handshake_timeout(state, &handshake)
        try logIn(endpoint)
        frameMax = Int(amqp_get_frame_max(state))
        channelMax = Int(amqp_get_channel_max(state))
        heartbeatSeconds = Int(amqp_get_heartbeat(state))
        guard frameMax >= 4096 else {
            throw AMQPError(.protocolError, "expected a frame limit of at least 4096 from the broker, not \(frameMax)")
        }
        guard configuration.tls == nil else { return TLSTransport(self) }
        // The loop keeps the heartbeats itself: the library's would land in the middle of a frame that is half written.
        amqp_tune_connection(state, Int32(channelMax), Int32(frameMax), 0)
        return SocketTransport(self)
    }

    /// The system's words for a socket that could not be connected; the library itself says only that there was an error.
    private static func words(of cause: Int32) -> String {
        guard [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT].contains(cause) else {
            return "the connection is refused, or nobody is there"
        }
        return String(cString: strerror(cause)).lowercased()
    }

    private func makeSocket() throws(AMQPError) -> OpaquePointer {
        guard let tls = configuration.tls else {
            guard let socket = amqp_tcp_socket_new(state) else { throw AMQPError(.connectFailed, "out of memory") }
            return socket
        }
        guard let socket = amqp_ssl_socket_new(state) else {
            throw AMQPError(.connectFailed, "the TLS library could not be set up")
        }
        amqp_ssl_socket_set_verify_peer(socket, tls.verifiesPeer ? 1 : 0)
        amqp_ssl_socket_set_verify_hostname(socket, tls.verifiesHostname ? 1 : 0)
        amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST)
        let authorities =
            tls.authoritiesFile ?? AMQPTLSConfiguration.systemAuthoritiesFiles.first { access($0, R_OK) == 0 }
        if let authorities, tls.verifiesPeer || tls.authoritiesFile != nil {
            guard amqp_ssl_socket_set_cacert(socket, authorities) == AMQP_STATUS_OK.rawValue else {
                throw AMQPError(.connectFailed, "expected certificates of authorities, in PEM, in \(authorities)")
            }
        }
        if let certificate = tls.certificateFile {
            let key = tls.keyFile ?? certificate
            guard amqp_ssl_socket_set_key(socket, certificate, key) == AMQP_STATUS_OK.rawValue else {
                throw AMQPError(
                    .connectFailed, "expected a certificate in \(certificate) and its key in \(key), in PEM")
            }
        }
        return socket
    }

    private func logIn(_ endpoint: AMQPConfiguration.Endpoint) throws(AMQPError) {
        var arena = Arena()
        // The library announces two capabilities only, and leaves out those that make the broker tell us more.
        var properties: AMQPTable = [
            "product": "AMQP for Swift",
            "capabilities": [
                "consumer_cancel_notify": true, "connection.blocked": true, "basic.nack": true,
                "publisher_confirms": true,
            ],
        ]
        if let name = configuration.connectionName { properties["connection_name"] = .string(name) }
        var table = try arena.table(properties)
        let channelMax = Int32(clamping: configuration.channelMax)
        let frameMax = Int32(clamping: max(4096, configuration.maxFrameBytes))
        let heartbeat = Int32(clamping: min(configuration.heartbeat.wholeSecondsUp, 65_535))
        let reply =
            switch configuration.credentials {
            case .plain(let user, let password):
                amqp_shim_login_plain(
                    state, configuration.virtualHost, channelMax, frameMax, heartbeat, &table, user, password)
            case .external:
                amqp_shim_login_external(
                    state, configuration.virtualHost, channelMax, frameMax, heartbeat, &table, Self.identity)
            }
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL:
            return
        case AMQP_RESPONSE_SERVER_EXCEPTION
        where reply.reply.id == Method.connectionClose && reply.reply.decoded != nil:
            let close = reply.reply.decoded.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
            let code = Int(close.reply_code)
            throw AMQPError(
                // RabbitMQ says 530 of a virtual host that is not there, or not for this user.
                [403, 530].contains(code) ? .authenticationFailed : .connectFailed,
                "\(endpoint) refused: \(close.reply_text.text)",
                replyCode: code)
        case AMQP_RESPONSE_LIBRARY_EXCEPTION:
            throw AMQPError.fromLibrary(reply.library_error, .connectFailed, "logging in at \(endpoint)")
                .advising(configuration.tls?.adviceForLogIn)
        default:
            throw AMQPError(
                .connectFailed, "expected the end of the login at \(endpoint), the broker answered otherwise")
        }
    }

    /// Hands over a frame that the library read ahead during the login.
    ///
    /// - Returns: whether there was one.
    func receiveBuffered(_ handle: (amqp_frame_t) throws(AMQPError) -> Void) throws(AMQPError) -> Bool {
        guard amqp_frames_enqueued(state) != 0 || amqp_data_in_buffer(state) != 0 else { return false }
        return try receiveOne(handle)
    }

    /// Hands over the next frame, if a whole one can be had without waiting.
    ///
    /// - Returns: whether there was one.
    func receiveOne(_ handle: (amqp_frame_t) throws(AMQPError) -> Void) throws(AMQPError) -> Bool {
        var now = timeval(tv_sec: 0, tv_usec: 0)
        var frame = amqp_frame_t()
        let status = amqp_simple_wait_frame_noblock(state, &frame, &now)
        if status == AMQP_STATUS_TIMEOUT.rawValue { return false }
        guard status == AMQP_STATUS_OK.rawValue else {
            throw AMQPError.fromLibrary(
                status, status == AMQP_STATUS_BAD_AMQP_DATA.rawValue ? .protocolError : .connectionLost,
                "reading from the broker")
        }
        try handle(frame)
        amqp_maybe_release_buffers_on_channel(state, frame.channel)
        return true
    }
}
