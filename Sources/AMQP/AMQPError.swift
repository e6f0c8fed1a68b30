/// Why an AMQP operation failed.
///
/// The message says what was expected, what came and what to do next. It never contains a password or a message's body.
public struct AMQPError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure. More may be added: keep a default branch.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// No broker could be reached, or the broker refused the handshake.
        public static let connectFailed = Code(description: "connectFailed")
        /// The broker refused the user, the password or the certificate.
        public static let authenticationFailed = Code(description: "authenticationFailed")
        /// The connection was lost during the operation. A publish may or may not have arrived.
        public static let connectionLost = Code(description: "connectionLost")
        /// The broker closed the channel for a reason without a code of its own, or because of another operation on it.
        public static let channelClosed = Code(description: "channelClosed")
        /// 406: the queue or exchange exists with other arguments, or its state does not allow the operation.
        public static let preconditionFailed = Code(description: "preconditionFailed")
        /// 404: no such queue or exchange.
        public static let notFound = Code(description: "notFound")
        /// 403: the user has no permission for the operation.
        public static let accessRefused = Code(description: "accessRefused")
        /// 405: the queue belongs to another connection, or has an exclusive consumer.
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

    /// The kind of failure.
    public var code: Code

    /// Words for what was expected, what came instead, and what to do next.
    public var message: String

    /// The broker's reply code, if the broker refused the operation.
    public var replyCode: Int?

    /// The source file in which the error was raised.
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

    /// Whether the same operation may succeed later without any change by an operator or the caller.
    public var isRetriable: Bool {
        // INTERNAL_ERROR: a broker that is very busy says so of queues that it has not made in time.
        if replyCode == 541 { return true }
        return switch code {
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
    static func fromBroker(replyCode: Int, text: String, otherwise: Code) -> AMQPError {
        let code: Code =
            switch replyCode {
            case 403: .accessRefused
            case 404: .notFound
            case 405: .resourceLocked
            case 406: .preconditionFailed
            default: otherwise
            }
        return AMQPError(code, text, replyCode: replyCode)
    }
}
