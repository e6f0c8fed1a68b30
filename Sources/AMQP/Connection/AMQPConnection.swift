public import Logging
internal import Loops

/// A connection to a broker, which reconnects by itself until it is closed.
///
/// Each connection has a thread of its own, which sleeps until the socket or a caller wakes it. All methods may be called
/// from any task. A broker that is short of memory or disk stops reading from connections that publish: use one connection
/// to publish and another to consume.
///
/// The connection closes with `close()`, or when the last reference to it, its channels and consumers is gone.
public final class AMQPConnection: Sendable {
    let link: ConnectionLink

    /// Makes a connection, which does nothing before `start()`.
    public init(configuration: AMQPConfiguration, logger: Logger) {
        link = ConnectionLink(configuration: configuration, logger: logger)
    }

    deinit { _ = link.inbox.push(.stop) }

    /// The configuration that the connection was made with.
    public var configuration: AMQPConfiguration { link.configuration }

    /// Connects, and from then on reconnects whenever the connection is lost.
    ///
    /// Tries every endpoint once. After a failure, `start()` may be called again.
    ///
    /// - Throws: `connectFailed`, `authenticationFailed`; `closed` after `close()`, and when it is already started.
    public func start() async throws(AMQPError) {
        guard link.begin() else {
            throw AMQPError(.closed, "the connection is already started, or was closed")
        }
        let link = link
        let result = await withCheckedContinuation { continuation in
            let started = LoopThread.start("amqp") { ConnectionLoop(link, started: continuation).run() }
            if !started {
                link.end()
                continuation.resume(returning: .failure(AMQPError(.connectFailed, "no thread could be started")))
            }
        }
        try result.get()
    }

    /// Closes the connection for good: operations under way fail with `closed`, consumers end.
    ///
    /// Returns when the broker has answered, after two seconds at most.
    public func close() async {
        link.retire()
        _ = link.inbox.push(.stop)
        await link.ended()
        link.finishUpdates()
    }

    /// The state of the connection.
    public var state: AMQPConnectionState { link.state }

    /// The obstacle that keeps the connection from taking publishes and deliveries, in words for an operator; nil if nothing does.
    public var obstacle: String? {
        switch state {
        case .connected: nil
        case .connecting: link.failure.map { "not connected: \($0.message)" } ?? "connecting"
        case .blocked(let reason): "the broker takes no messages: \(reason.isEmpty ? "an alarm" : reason)"
        case .reconnecting(let attempt):
            "not connected, attempt \(attempt): \(link.failure?.message ?? "the connection was lost")"
        case .closed: link.failure.map { "not connected: \($0.message)" } ?? "the connection is closed"
        }
    }

    /// The connection's states, beginning with the present one. A slow reader misses states in between, never the newest.
    /// The sequence ends with `close()`.
    public var stateUpdates: AsyncStream<AMQPConnectionState> { link.updates() }

    /// The work that the connection has done so far.
    public var statistics: AMQPConnectionStatistics { link.statistics }

    /// Opens a channel. While the connection is being recovered, waits up to the configured request time-out.
    ///
    /// - Parameters:
    ///   - prefetch: how many unacknowledged deliveries each consumer on the channel may hold, 1 to 65535.
    ///   - confirms: whether the broker confirms what is published, which makes `publish` wait for it.
    /// - Throws: `AMQPError`: `timeout`, `closed`, `invalidArgument` when all channels are in use.
    public func openChannel(prefetch: Int = 256, confirms: Bool = false) async throws(AMQPError) -> AMQPChannel {
        guard (1...65_535).contains(prefetch) else {
            throw AMQPError(.invalidArgument, "expected a prefetch from 1 to 65535, not \(prefetch)")
        }
        let id = ChannelID(value: link.makeID())
        let deadline = Monotonic.now().advanced(by: configuration.requestTimeout)
        let result = await withCheckedContinuation { continuation in
            let opening = ChannelOpening(
                id: id, prefetch: UInt16(prefetch), confirms: confirms, deadline: deadline, continuation: continuation)
            if !link.inbox.push(.openChannel(opening)) {
                continuation.resume(returning: .failure(.connectionClosed))
            }
        }
        return AMQPChannel(
            connection: self, handle: ChannelHandle(id: id, link: link), number: try result.get(), confirms: confirms)
    }
}
