internal import SyncProtocol

/// What a WebSocket reports, in order; `ended` is the last.
enum WebSocketEvent: Sendable {
    /// The upgrade succeeded, with this answer to the protocols that were offered.
    case opened(protocolToken: String?, requestID: String?)
    case message([UInt8])
    /// The socket is no longer full.
    case drained
    case ended(ConnectionEnd)
}

/// An open or opening WebSocket.
protocol WebSocketChannel: Sendable {
    /// Sends one binary message; dropped once the socket has ended.
    func send(_ bytes: [UInt8])
    /// Too much that was sent waits for the network; `drained` follows.
    var isFull: Bool { get }
    /// Says that `bytes` bytes of messages have been worked off, so that reading may go on.
    func consumed(_ bytes: Int)
    func close()
}

/// What opening a WebSocket needs.
struct WebSocketRequest: Sendable {
    var url: String
    /// Sensitive: carries the access token.
    var accessToken: String
    var protocols: [String]
    var userAgent: String
    /// Take the place of any others.
    var headers: [String: String]
    var connectTimeoutMS: UInt
}

/// Opens WebSockets; tests bring their own.
protocol WebSocketConnecting: Sendable {
    /// Starts to connect. Events arrive one at a time, on any thread.
    func connect(_ request: WebSocketRequest, _ events: @escaping @Sendable (WebSocketEvent) -> Void)
        -> any WebSocketChannel
}
