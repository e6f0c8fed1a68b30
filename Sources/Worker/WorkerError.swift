/// Why a worker cannot go on with a batch or a slice.
package struct WorkerError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        /// What is stored does not fit together; nothing is written over it.
        package static let corrupt = Code(name: "corrupt")
        /// Something has no place in what the protocol allows.
        package static let tooLarge = Code(name: "tooLarge")
        /// A second batch was given to an owner that was going through one.
        package static let busy = Code(name: "busy")
        /// The worker is stopping.
        package static let stopping = Code(name: "stopping")
    }

    package var code: Code
    package var message: String
    package var underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String {
        underlying.map { "\(message) (\(code.name): \($0))" } ?? "\(message) (\(code.name))"
    }
}

/// Why one message is set aside in the dead-letter queue; the rest of its realm goes on.
struct PoisonError: Error {
    var reason: String
    var app: String?
}
