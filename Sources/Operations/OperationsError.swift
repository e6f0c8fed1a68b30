/// A configuration that cannot be used, or an operations endpoint that cannot be offered.
package struct OperationsError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        package static let invalidSetting = Code(name: "invalidSetting")
        package static let unknownSetting = Code(name: "unknownSetting")
        package static let unreadableFile = Code(name: "unreadableFile")
        package static let cannotListen = Code(name: "cannotListen")
        package static let stopped = Code(name: "stopped")
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
