package import Changesets

/// Why a realm's state could not be changed or read.
package struct RealmStateError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// An instruction does not fit the state; its author's upload is bad.
        package static let badInstruction = Code(rawValue: "bad_instruction")
        /// An instruction touches an object that the caller did not load first: a mistake in this program.
        package static let notLoaded = Code(rawValue: "not_loaded")
        /// Stored bytes are not what this module wrote.
        package static let corrupt = Code(rawValue: "corrupt")
    }

    package var code: Code
    package var message: String
    /// Position in its changeset of the instruction that failed.
    package var instruction: Int?
    package var className: ByteString?
    package var key: ObjectKey?
    /// The field and what follows it, for people.
    package var path: String?

    package init(
        _ code: Code, _ message: String, instruction: Int? = nil, className: ByteString? = nil, key: ObjectKey? = nil,
        path: String? = nil
    ) {
        self.code = code
        self.message = message
        self.instruction = instruction
        self.className = className
        self.key = key
        self.path = path
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

func hexText(_ value: UInt64, _ digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
