package import Changesets

/// Why a realm's state could not be changed or read.
package struct RealmStateError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// An instruction does not fit the state; its author's upload is bad.
        case badInstruction = "bad_instruction"
        /// An instruction touches an object that the caller did not load first: a mistake in this program.
        case notLoaded = "not_loaded"
        /// Stored bytes are not what this module wrote.
        case corrupt
    }

    package var code: Code
    package var message: String
    /// Position in its changeset of the instruction that failed.
    package var instruction: Int?
    package var className: ByteString?
    package var key: ObjectKey?
    /// The field and what follows it, for people.
    package var path: String?

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static func bad(_ message: String) -> RealmStateError { RealmStateError(.badInstruction, message) }
    static func corrupt(_ message: String) -> RealmStateError { RealmStateError(.corrupt, message) }

    package var description: String {
        var text = message
        if let instruction { text += ", instruction \(instruction)" }
        if let className {
            text += ", at \(className)"
            if let key { text += "[\(key.text)]" }
            if let path { text += ".\(path)" }
        }
        return text
    }
}

extension ObjectKey {
    /// The key for people.
    package var text: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .globalKey(let high, let low): "{\(high)-\(low)}"
        case .objectID(let value): hexText(value.high, 16) + hexText(UInt64(value.low), 8)
        case .uuid(let value): hexText(value.high, 16) + hexText(value.low, 16)
        }
    }
}
