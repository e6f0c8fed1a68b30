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

extension WorkerError {
    /// Reads what is stored; where that fails, it is damaged.
    ///
    /// - Parameter what: what it is, in the words of the error.
    @inline(__always)
    static func reading<Value>(_ what: @autoclosure () -> String, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch {
            throw WorkerError(.corrupt, "\(what()) cannot be read", underlying: error)
        }
    }
}

/// Why one message is set aside in the dead-letter queue; the rest of its realm goes on.
struct PoisonError: Error {
    var reason: String
    var app: String?

    static func noApp(_ app: String) -> PoisonError { PoisonError(reason: "app \(app) does not exist", app: app) }

    /// Returns the campaign, by which the repetition of a message is known.
    ///
    /// - Parameter what: what it asks for, in the words of the error.
    static func required(_ campaign: String?, of what: String, app: String) throws(PoisonError) -> String {
        if let campaign { return campaign }
        throw PoisonError(
            reason: "\(what) needs a campaign or a message id, so that its repetition changes nothing", app: app)
    }
}
