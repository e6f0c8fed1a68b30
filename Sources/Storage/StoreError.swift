/// Why a store could not do what was asked.
package struct StoreError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        package static let alreadyExists = Code(name: "alreadyExists")
        package static let notFound = Code(name: "notFound")
        /// The slice belongs to another epoch: this worker has lost it and must write nothing more.
        package static let fenced = Code(name: "fenced")
        /// The configuration names another slice count, version or kind of store than the one recorded.
        package static let mismatch = Code(name: "mismatch")
        /// The stored bytes cannot be read: damage, or written by a newer version.
        package static let corrupt = Code(name: "corrupt")
        /// Disk full, locked, unreachable: may work later.
        package static let unavailable = Code(name: "unavailable")
        /// Somebody else has changed what was to be replaced.
        package static let stale = Code(name: "stale")
        /// This process may not open it. Only an operator can change that.
        package static let denied = Code(name: "denied")
        /// More than there may be.
        package static let full = Code(name: "full")
        package static let invalidURL = Code(name: "invalidURL")
    }

    package var code: Code
    package var message: String
    /// The engine's own error; nil if the engine did its work and what it returned makes no sense.
    package var underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The message with what the engine says of it, for an operator.
    package var words: String { underlying.map { "\(message): \($0)" } ?? message }

    package var isRetriable: Bool { code == .unavailable }

    package var description: String {
        underlying.map { "\(message) (\(code.name): \($0))" } ?? "\(message) (\(code.name))"
    }
}
