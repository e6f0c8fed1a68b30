package import Changesets

/// Why a local change cannot be made. Nothing has been recorded by the call that throws it.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case noSuchClass = "no_such_class"
        case noSuchField = "no_such_field"
        case noSuchObject = "no_such_object"
        case objectExists = "object_exists"
        case wrongKey = "wrong_key"
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        case schemaMismatch = "schema_mismatch"
        case invalid
    }

    package var code: Code
    package var className: ByteString
    package var field: ByteString?
    /// Words for what was expected and what came.
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
