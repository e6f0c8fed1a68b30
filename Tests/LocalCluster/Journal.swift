import Foundation
import Synchronization

/// What happened and when, on standard error and in a file beside the processes' logs of a run.
package final class Journal: Sendable {
    private let start = ContinuousClock.now
    private let file: Mutex<FileHandle>
    private let isQuiet: Bool

    package init(path: String, quiet: Bool) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let handle = FileHandle(forWritingAtPath: path) else { throw LocalClusterError("cannot write \(path)") }
        file = Mutex(handle)
        isQuiet = quiet
    }

    package func note(_ text: String) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let line = Data((String(format: "%7.1f  ", seconds) + text + "\n").utf8)
        file.withLock { try? $0.write(contentsOf: line) }
        if !isQuiet { try? FileHandle.standardError.write(contentsOf: line) }
    }
}
