package import Changesets

/// Why a local change cannot be made. Nothing has been recorded by the call that throws it.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        package static let noSuchClass = Code(rawValue: "no_such_class")
        package static let noSuchField = Code(rawValue: "no_such_field")
        package static let noSuchObject = Code(rawValue: "no_such_object")
        package static let objectExists = Code(rawValue: "object_exists")
        package static let wrongKey = Code(rawValue: "wrong_key")
        package static let wrongType = Code(rawValue: "wrong_type")
        package static let outOfRange = Code(rawValue: "out_of_range")
        package static let schemaMismatch = Code(rawValue: "schema_mismatch")
        package static let invalid = Code(rawValue: "invalid")
    }

    package var code: Code
    package var className: ByteString
    package var field: ByteString?
    /// What was expected and what came.
    package var message: String

    package init(_ code: Code, _ className: ByteString, _ field: ByteString? = nil, _ message: String) {
        self.code = code
        self.className = className
        self.field = field
        self.message = message
    }

    package var description: String {
        let place = field.map { "\(className).\($0)" } ?? "\(className)"
        return "\(place): \(message) (\(code.rawValue))"
    }
}
