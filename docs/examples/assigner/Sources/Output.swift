import Foundation

enum Output {
    /// Writes at once, also where somebody reads through a pipe.
    static func show(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    }
}
