package import Logging
import Synchronization

/// Everything that would be shown to somebody: log lines with their metadata, and values printed in every way.
package final class LogCapture: Sendable {
    /// A line of the log, as its handler was given it.
    package struct Line: Sendable {
        package var level: Logger.Level
        package var message: String
        package var metadata: [String: String]
    }

    private let state = Mutex((text: "", lines: [Line]()))
    private let level: Logger.Level

    /// - Parameter level: what is less important is not made at all.
    package init(level: Logger.Level = .trace) { self.level = level }

    package var text: String { state.withLock { $0.text } }

    /// The lines whose metadata has a value.
    package func lines(with key: String, _ value: some CustomStringConvertible) -> [Line] {
        state.withLock { $0.lines.filter { $0.metadata[key] == value.description } }
    }

    package var logger: Logger {
        Logger(label: "captured") { [level] _ in Handler(capture: self, logLevel: level) }
    }

    package func note(_ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        write("\(value) \(String(reflecting: value)) \(dumped)")
    }

    private func write(_ text: String) { state.withLock { $0.text += text + "\n" } }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let error = event.error.map { "\($0)" } ?? ""
            capture.write("\(event.level) \(event.message) \(metadata) \(event.metadata ?? [:]) \(error)")
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = Line(
                level: event.level, message: "\(event.message)", metadata: all.mapValues(\.description))
            capture.state.withLock { $0.lines.append(line) }
        }
    }
}
