/// Counts of what a connection has done since it was made, for metrics. Updated about once in each turn of the
/// connection's thread.
public struct AMQPConnectionStatistics: Sendable, Hashable {
    /// Messages written.
    public var published = 0
    /// Messages that the broker confirmed.
    public var confirmed = 0
    /// Mandatory messages that came back.
    public var returned = 0
    /// Messages that the broker refused.
    public var refused = 0
    /// Messages that arrived.
    public var delivered = 0
    /// Acknowledgements and rejections that were dropped because their delivery was of an earlier connection.
    public var staleAcknowledgements = 0
    /// How often the connection was restored.
    public var reconnects = 0
}
