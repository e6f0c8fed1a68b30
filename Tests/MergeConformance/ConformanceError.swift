/// Input that cannot be read: a missing or damaged file, or a line that is not what it should be.
package struct ConformanceError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The file cannot be opened, read or unpacked.
        package static let unreadable = Code(rawValue: "unreadable")
        /// A line is not a recording's.
        package static let malformed = Code(rawValue: "malformed")
        /// More than this process is willing to hold.
        package static let limitExceeded = Code(rawValue: "limit_exceeded")
    }

    package var code: Code
    /// What was expected and what came.
    package var message: String
    package var file: String
    /// Counted from 1.
    package var line: Int?

    package init(_ code: Code, _ message: String, file: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.file = file
        self.line = line
    }

    package var description: String { "\(file)\(line.map { ", line \($0)" } ?? ""): \(message)" }
}
