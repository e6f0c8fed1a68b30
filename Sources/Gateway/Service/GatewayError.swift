package import AMQP

/// Why the gateway could not do something. Messages name no token, password or payload.
package struct GatewayError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        /// The broker is unreachable or refuses messages for now.
        package static let brokerUnavailable = Code(name: "brokerUnavailable")
        /// The broker is there and did not confirm a message in time, or closed its channel: it may or may not have it.
        package static let unconfirmed = Code(name: "unconfirmed")
        /// No owner answered in time.
        package static let timeout = Code(name: "timeout")
        /// A bound of `GatewayLimits` is reached.
        package static let overloaded = Code(name: "overloaded")
        /// A message of our own making does not fit its form.
        package static let notEncodable = Code(name: "notEncodable")
        package static let shuttingDown = Code(name: "shuttingDown")
        package static let mail = Code(name: "mail")
        package static let passwordHash = Code(name: "passwordHash")
    }

    package var code: Code
    package var message: String
    package var underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var isRetriable: Bool {
        [.brokerUnavailable, .unconfirmed, .timeout, .overloaded, .shuttingDown].contains(code)
    }

    package var description: String {
        underlying.map { "\(message) (\(code.name): \($0))" } ?? "\(message) (\(code.name))"
    }
}

extension GatewayError {
    /// Why the broker did not take a message.
    package init(_ error: AMQPError) {
        switch error.code {
        case .nacked, .unroutable, .notFound, .preconditionFailed, .accessRefused, .invalidArgument:
            self.init(.overloaded, "the broker refused a message", underlying: error)
        case .timeout, .blocked, .channelClosed:
            self.init(.unconfirmed, "the broker did not confirm a message", underlying: error)
        default: self.init(.brokerUnavailable, "the broker is away", underlying: error)
        }
    }
}
