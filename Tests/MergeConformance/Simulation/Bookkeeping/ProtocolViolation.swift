/// A message that contradicts what went before it in the life of the client file. The session ends with this error.
package struct ProtocolViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// Error codes of the sync protocol (docs/protocol.md, "Error codes").
    package enum Code: Int, Hashable, Sendable {
        case badServerVersion = 209
        case badClientVersion = 210
        case badOriginFileIdent = 216
        case badProgress = 233
    }

    package var code: Code
    /// What was expected and what came.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(message) (\(code.rawValue))" }
}
