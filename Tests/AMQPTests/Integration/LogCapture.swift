import Logging
import Synchronization

/// Everything that would be shown to somebody: log lines with their metadata, and values printed in every way.
final class LogCapture: Sendable {
    private let lines = Mutex("")

    var text: String { lines.withLock { $0 } }

    var logger: Logger {
        Logger(label: "captured") { _ in Handler(capture: self) }
    }

    func note(_ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        write("\(value) \(String(reflecting: value)) \(dumped)")
    }

    private func write(_ line: String) { lines.withLock { $0 += line + "\n" } }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let error = event.error.map { "\($0)" } ?? ""
            capture.write("\(event.level) \(event.message) \(metadata) \(event.metadata ?? [:]) \(error)")
        }
    }
}
