/// Why a text or a value is no Extended JSON that can be used: what was expected, what came, and where.
package struct ExtendedJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// The text is no JSON.
        case syntax
        /// A key stands twice in one object.
        case repeatedKey = "repeated_key"
        /// A value that its wrapper does not allow, as in `{"$oid": "x"}`, or a number that no type holds.
        case invalidValue = "invalid_value"
        /// A BSON type that is not read.
        case unsupportedType = "unsupported_type"
        /// Longer, deeper or of more values than allowed.
        case limit
    }

    package var code: Code
    package var place: JSONPlace
    /// Words for what was expected and what came.
    package var message: String
    /// The byte of the text, counted from 0, at which reading stopped.
    package var offset: Int?

    package init(_ code: Code, _ message: String, at place: JSONPlace = .root, offset: Int? = nil) {
        self.code = code
        self.place = place
        self.message = message
        self.offset = offset
    }

    package var description: String {
        let place = place.description
        return (place.isEmpty ? "" : "\(place): ") + message + (offset.map { " at byte \($0)" } ?? "")
    }

    /// The same error of a value that stands at a step of another one.
    func within(_ step: JSONPlace.Step) -> ExtendedJSONError {
        var error = self
        error.place = place.within(step)
        return error
    }
}

/// How large an Extended JSON text may be.
package struct ExtendedJSONLimits: Hashable, Sendable {
    package var bytes: Int
    /// Objects and arrays within each other, wrappers such as `{"$oid": ...}` included.
    package var depth: Int
    /// Values, members of objects and elements of arrays, taken together: a value takes far more memory than its bytes.
    package var values: Int

    package init(bytes: Int = 16 << 20, depth: Int = 128, values: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}
