/// Why an AMQP operation failed.
///
/// The message says what was expected, what came and what to do next; it never holds a password or a message's body.
public struct AMQPError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure. More may be added: keep a default branch.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// No broker could be reached, or it turned the handshake down.
        public static let connectFailed = Code(description: "connectFailed")
        /// The broker refused the user, the password or the certificate.
        public static let authenticationFailed = Code(description: "authenticationFailed")
        /// The connection went away while the operation was under way; a publish may or may not have arrived.
        public static let connectionLost = Code(description: "connectionLost")
        /// The broker closed the channel for a reason without a code of its own, or because of another operation on it.
        public static let channelClosed = Code(description: "channelClosed")
        /// 406: declared with other arguments than the existing entity, or not allowed in its state.
        public static let preconditionFailed = Code(description: "preconditionFailed")
        /// 404: no such queue or exchange.
        public static let notFound = Code(description: "notFound")
        /// 403: the user may not do this.
        public static let accessRefused = Code(description: "accessRefused")
        /// 405: an exclusive queue of another connection, or a queue with an exclusive consumer.
        public static let resourceLocked = Code(description: "resourceLocked")
        /// A mandatory message was returned: no queue is bound for it.
        public static let unroutable = Code(description: "unroutable")
        /// The broker refused responsibility for the message, as a queue at its limit with `reject-publish` does.
        public static let nacked = Code(description: "nacked")
        /// The deadline passed; a publish that was already under way may still arrive.
        public static let timeout = Code(description: "timeout")
        /// The connection, channel or consumer was closed on this side.
        public static let closed = Code(description: "closed")
        /// The deadline passed while the broker was blocking publishers (a memory or disk alarm).
        public static let blocked = Code(description: "blocked")
        /// The broker cancelled the consumer, as it does when the queue is deleted.
        public static let consumerCancelled = Code(description: "consumerCancelled")
        /// The broker sent something that AMQP 0-9-1 does not allow there.
        public static let protocolError = Code(description: "protocolError")
        /// The caller passed something that cannot be sent.
        public static let invalidArgument = Code(description: "invalidArgument")
    }

    /// What kind of failure this is.
    public var code: Code

    /// What was expected, what came, what to do next.
    public var message: String

    /// The broker's reply code, when the broker said it.
    public var replyCode: Int?

    /// Where in the library it was raised.
    public var file: String

    /// The line in `file`.
    public var line: Int

    init(_ code: Code, _ message: String, replyCode: Int? = nil, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.replyCode = replyCode
        self.file = file
        self.line = line
    }

    /// Whether the same operation may well succeed later without anybody changing anything.
    public var isRetriable: Bool {
        switch code {
        case .connectFailed, .connectionLost, .channelClosed, .resourceLocked, .nacked, .timeout, .blocked,
            .consumerCancelled, .unroutable:
            true
        default:
            false
        }
    }

    /// `code (reply code): message`.
    public var description: String {
        if let replyCode { "\(code) (\(replyCode)): \(message)" } else { "\(code): \(message)" }
    }
}

extension AMQPError {
    /// The error for what is asked of a connection that was closed on this side.
    static var connectionClosed: AMQPError { AMQPError(.closed, "the connection is closed") }

    /// The error for a `channel.close` or `connection.close` that the broker sent.
    static func fromBroker(
        replyCode: Int, text: String, otherwise: Code, file: String = #fileID, line: Int = #line
    ) -> AMQPError {
        let code: Code =
            switch replyCode {
            case 403: .accessRefused
            case 404: .notFound
            case 405: .resourceLocked
            case 406: .preconditionFailed
            default: otherwise
            }
        return AMQPError(code, text, replyCode: replyCode, file: file, line: line)
    }
}
