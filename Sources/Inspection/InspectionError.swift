/// Why an operator's command could not examine something.
package struct InspectionError: Error, CustomStringConvertible, Sendable {
    package enum Code: String, Sendable {
        /// Stored data cannot be read or applied.
        case corrupt
        case notFound
        /// Queries that cannot be a view.
        case badInput
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(message) (\(code.rawValue))" }
}
