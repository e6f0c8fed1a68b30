import Loops

/// A channel of a connection. Publishes, deliveries and declarations keep their order within one channel.
///
/// A channel survives reconnects: the connection opens it again, repeats its declarations and subscribes its consumers, and
/// then the waiting calls go on. The same happens when the broker closes the channel because an operation failed. That
/// operation throws the broker's reason; the other operations under way throw `channelClosed`.
///
/// The channel closes with `close()`, or when the last reference to the channel and its consumers is gone.
public final class AMQPChannel: Sendable {
    /// The connection that the channel belongs to.
    public let connection: AMQPConnection
    /// Whether the broker confirms what is published here.
    public let confirms: Bool
    let handle: ChannelHandle
    /// The channel's number on the wire, which stays the same over reconnects.
    let number: UInt16

    init(connection: AMQPConnection, handle: ChannelHandle, number: UInt16, confirms: Bool) {
        self.connection = connection
        self.handle = handle
        self.number = number
        self.confirms = confirms
    }

    deinit {
        _ = handle.link.inbox.push(.request(handle.id, ChannelRequest(.close)))
    }

    /// Closes the channel: consumers end, unconfirmed publishes fail with `closed`, and unacknowledged deliveries go back
    /// to their queues.
    public func close() async {
        _ = try? await request(.close)
    }

    func request(_ operation: ChannelOperation, record: Bool = false) async throws(AMQPError) -> ChannelReply {
        let deadline = Monotonic.now().advanced(by: connection.configuration.requestTimeout)
        let result = await withCheckedContinuation { continuation in
            let request = ChannelRequest(operation, deadline: deadline, record: record, continuation: continuation)
            if !handle.link.inbox.push(.request(handle.id, request)) { request.fail(.connectionClosed) }
        }
        return try result.get()
    }
}
