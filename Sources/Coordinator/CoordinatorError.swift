/// Why a coordinator cannot start or do what it was asked.
package struct CoordinatorError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        package static let noAdminToken = Code(name: "noAdminToken")
        package static let tokenFile = Code(name: "tokenFile")
        package static let sliceCount = Code(name: "sliceCount")
        package static let brokerUnavailable = Code(name: "brokerUnavailable")
    }

    package var code: Code
    package var message: String
    package var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String {
        underlying.map { "\(message) (\(code.name): \($0))" } ?? "\(message) (\(code.name))"
    }
}
