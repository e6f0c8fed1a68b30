/// A configuration that cannot be used, or an operations endpoint that cannot be offered.
package struct OperationsError: Error, CustomStringConvertible, Sendable {
    package enum Code: String, Sendable {
        case invalidSetting, unknownSetting, unreadableFile, cannotListen, stopped
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
        underlying.map { "\(message) (\(code.rawValue): \($0))" } ?? "\(message) (\(code.rawValue))"
    }
}
