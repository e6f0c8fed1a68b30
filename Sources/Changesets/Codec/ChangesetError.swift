/// Why bytes are not a changeset.
package struct ChangesetError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The bytes break a rule of the format.
        case malformed
        /// The bytes follow the format but ask for more than this process is willing to hold.
        case limitExceeded = "limit_exceeded"
    }

    package var code: Code
    package var message: String
    /// Where in the bytes reading stopped.
    package var offset: Int

    package init(_ code: Code, _ message: String, offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    package var description: String { "\(message) (\(code.rawValue), at byte \(offset))" }
}
