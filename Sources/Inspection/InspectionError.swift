/// Why an operator's command could not examine something.
package struct InspectionError: Error, CustomStringConvertible, Sendable {
    package struct Code: Hashable, Sendable {
        package var name: String
        /// Stored data cannot be read or applied.
        package static let corrupt = Code(name: "corrupt")
        package static let notFound = Code(name: "notFound")
        /// A dead letter does not say where it came from.
        package static let noOrigin = Code(name: "noOrigin")
        package static let invalid = Code(name: "invalid")
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
