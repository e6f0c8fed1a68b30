import Foundation
import Logging
import Synchronization
import Testing

/// What the SDK and the servers log in a process of tests: lines of a file in the temporary folder, so that a run that passes does not
/// show them. Where SLUICE_TEST_LOGS=- they go to standard error.
package enum TestLogs {
    private static let file = FileManager.default.temporaryDirectory.appending(path: "logs/tests-\(getpid()).log")

    private static let kept = 200
    private static let newest = Mutex<[String]>([])
    private static let output = Mutex<FileHandle?>(opened())

    /// The last lines of all tests, for the report of a failure.
    package static func last(_ count: Int) -> [String] { newest.withLock { $0.suffix(count) } }

    private static func opened() -> FileHandle? {
        guard ProcessInfo.processInfo.environment["SLUICE_TEST_LOGS"] != "-" else { return .standardError }
        let folder = file.deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        return try? FileHandle(forWritingTo: file)
    }

    fileprivate static func write(_ line: String) {
        newest.withLock { lines in
            if lines.count == kept { lines.removeFirst() }
            lines.append(line)
        }
        output.withLock { try? $0?.write(contentsOf: Data("\(line)\n".utf8)) }
    }

    fileprivate static func begin() {
        LoggingSystem.bootstrap { Handler(label: $0) }
    }

    private struct Handler: LogHandler {
        let label: String
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
            let values = metadata.merging(event.metadata ?? [:]) { $1 }
            // What other threads do is no test's of which is known.
            let test = Test.current.map { "\($0.name) " } ?? ""
            let fields = values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            TestLogs.write("\(time) \(event.level) \(test)\(label): \(event.message)\(fields)")
        }
    }
}

#if os(Linux)
/// Runs before `main`, and so before any logger is made.
@used @section(".init_array") private let beginning: @convention(c) () -> Void = { TestLogs.begin() }
#endif
