/// The state of a connection.
public enum AMQPConnectionState: Sendable, Hashable {
    /// Not connected yet: before or during `start()`.
    case connecting
    /// Connected; the generation grows by one with every connection made, from 1.
    case connected(generation: Int)
    /// Connected, but the broker takes no publishes until an alarm (memory, disk) is over. Publishes wait until their
    /// deadline.
    case blocked(reason: String)
    /// The connection was lost; this is the attempt under way or waited for, from 1.
    case reconnecting(attempt: Int)
    /// Closed by `close()`, or never opened because `start()` failed.
    case closed
}
