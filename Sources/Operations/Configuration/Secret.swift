/// A text that must not reach a log: whatever prints it prints `<redacted>`.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var revealed: String

    package init(_ text: String) { revealed = text }

    /// An admin token has at least so many bytes, wherever it comes from.
    package static let minTokenBytes = 32

    package var isEmpty: Bool { revealed.isEmpty }
    package var description: String { isEmpty ? "" : "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}
