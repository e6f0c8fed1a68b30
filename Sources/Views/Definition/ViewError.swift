package import Changesets

/// Why a subscription set cannot be a view: what the client is told in QUERY_ERROR.
package struct ViewError: Error, Equatable, Sendable, CustomStringConvertible {
    package var message: String
    /// The class whose query is at fault; nil if it is the whole set.
    package var className: ByteString?

    package init(_ message: String, className: ByteString? = nil) {
        self.message = message
        self.className = className
    }

    package var description: String { message }
}
