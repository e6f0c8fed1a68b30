import Foundation

/// The person's side: lines in, lines out.
enum Terminal {
    /// What is typed. Reading blocks, and so has a thread of its own.
    static let lines = AsyncStream<String>(bufferingPolicy: .bufferingOldest(1000)) { lines in
        Thread.detachNewThread {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }

    /// Writes at once, also where somebody reads through a pipe.
    static func show(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    }
}
