/// The properties that travel with a message's body.
///
/// Every text except those in the headers is limited to 255 bytes of UTF-8.
public struct AMQPProperties: Sendable, Hashable {
    /// The media type of the body.
    public var contentType: String?
    /// The encoding of the body, such as `gzip`.
    public var contentEncoding: String?
    /// The headers that applications define; empty when there are none.
    public var headers: AMQPTable
    /// Whether a durable queue keeps the message over a restart of the broker.
    public var persistent: Bool
    /// 0 to 9, for queues that have priorities.
    public var priority: UInt8?
    /// The id of the message that this message answers.
    public var correlationID: String?
    /// The queue that answers should go to.
    public var replyTo: String?
    /// The time in milliseconds, as text, after which a queue may drop or dead-letter the message.
    public var expiration: String?
    /// The message's own identity.
    public var messageID: String?
    /// When the message was made, in whole seconds since 1970.
    public var timestamp: UInt64?
    /// The kind of message.
    public var type: String?
    /// The user who publishes; the broker checks it against the connection's.
    public var userID: String?
    /// The application that publishes.
    public var appID: String?

    /// Makes properties; `persistent` is set, everything else is absent unless given.
    public init(
        type: String? = nil, messageID: String? = nil, correlationID: String? = nil, replyTo: String? = nil,
        timestamp: UInt64? = nil, contentType: String? = nil, contentEncoding: String? = nil, headers: AMQPTable = [:],
        persistent: Bool = true, priority: UInt8? = nil, expiration: String? = nil, userID: String? = nil,
        appID: String? = nil
    ) {
        self.type = type
        self.messageID = messageID
        self.correlationID = correlationID
        self.replyTo = replyTo
        self.timestamp = timestamp
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.headers = headers
        self.persistent = persistent
        self.priority = priority
        self.expiration = expiration
        self.userID = userID
        self.appID = appID
    }
}
