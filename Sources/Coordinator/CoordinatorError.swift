/// Why a coordinator cannot start or do what it was asked.
package struct CoordinatorError: Error, CustomStringConvertible {
    package enum Code: String, Sendable { case noAdminToken, tokenFile, sliceCount, brokerUnavailable }

    package var code: Code
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(message) (\(code.rawValue))" }
}
