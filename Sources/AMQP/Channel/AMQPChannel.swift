/// A channel: the order of what is published, delivered and declared is kept within one.
///
/// It survives reconnects: it is opened again, what was declared on it is declared again, its consumers are
/// resubscribed, and then the calls that wait go on. The same happens when the broker closes the channel because an
/// operation failed; that operation throws the broker's reason, and what else was under way `channelClosed`.
///
/// The channel closes when it is told to, or when the last reference to it and its consumers is gone.
public final class AMQPChannel: Sendable {
    /// The connection it belongs to.
    public let connection: AMQPConnection
    /// Whether the broker confirms what is published here.
    public let confirms: Bool
    let handle: ChannelHandle
    /// Its number on the wire, the same on every connection.
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

    /// Closes the channel: consumers end, unconfirmed publishes fail with `closed`, what was delivered and not
    /// acknowledged goes back to its queues.
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
