package import Changesets

/// Something that follows the changeset format, and that the reference engine's clients cannot apply, or apps built on them cannot read: one
/// of it in a realm ends every such client at each launch (docs/changesets.md, "What stock clients cannot apply").
package struct Misfit: Hashable, Sendable, CustomStringConvertible {
    /// The object that would hold it; nil if the class or the key is unknown.
    package var address: ObjectAddress?
    /// The field, and what follows it.
    package var field: ByteString
    package var path: [PathStep]
    /// The reason, as the reference says it where it says something.
    package var reason: String

    /// Names the class, the field and the fault, and no values: of dictionaries' keys only the one that is at fault.
    package var description: String { "\(reason) at \(address?.className.string ?? "?").\(field)" }
}

extension ByteString {
    /// Why no dictionary may have this key, in the reference's words; nil if it may.
    package var dictionaryKeyFault: String? {
        if bytes.first == UInt8(ascii: "$") {
            return "Dictionary::insert: key must not start with '$': \(string.debugDescription)"
        }
        if bytes.contains(UInt8(ascii: ".")) {
            return "Dictionary::insert: key must not contain '.': \(string.debugDescription)"
        }
        return textFault
    }

    /// Why this is no text that apps can read; nil if it is one. Swift's models end their process at it.
    var textFault: String? { isUTF8 ? nil : "a text of \(count) bytes is not UTF-8" }

    private var isUTF8: Bool { bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) } != nil }
}
