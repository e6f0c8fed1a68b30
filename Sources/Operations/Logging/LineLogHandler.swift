import Logging

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes each log event as one line, in one write, so that lines of several processes do not mix.
struct LineLogHandler: LogHandler {
    typealias Sink = @Sendable (String) -> Void

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let sink: Sink
    private let throttle: LogThrottle

    /// Values are cut at this many characters: what arrived from outside may be of any length.
    static let maxValueCharacters = 4096

    /// - Parameter throttle: shared by all handlers of a process.
    init(
        label: String, format: LogFormat, level: Logger.Level, throttle: LogThrottle = LogThrottle(),
        sink: @escaping Sink = LineLogHandler.standardError
    ) {
        self.label = label
        self.format = format
        self.logLevel = level
        self.throttle = throttle
        self.sink = sink
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let leftOut = throttle.leftOut(before: event.level, event.message.description) else { return }
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        if leftOut > 0 { all["left_out"] = "\(leftOut)" }
        let fields = all.map { ($0.key, String("\($0.value)".prefix(Self.maxValueCharacters))) }
            .sorted { $0.0 < $1.0 }
        sink(
            format == .json
                ? Self.jsonLine(label: label, event: event, fields: fields)
                : Self.textLine(label: label, event: event, fields: fields))
    }

    private static func jsonLine(label: String, event: LogEvent, fields: [(String, String)]) -> String {
        var line = "{\"time\":\"\(now())\",\"level\":\"\(event.level.rawValue)\",\"logger\":\(quoted(label))"
        line += ",\"message\":\(quoted(event.message.description))"
        let taken: Set<String> = ["time", "level", "logger", "message"]
        for (key, value) in fields {
            let content = isNumber(value) && !names.contains(key) ? value : quoted(value)
            line += ",\(quoted(taken.contains(key) ? "metadata.\(key)" : key)):\(content)"
        }
        return line + "}\n"
    }

    /// The keys of what people and clients call something, which stays text also where it looks like a number: a field has one type.
    private static let names: Set<String> = [
        "app", "partition", "realm", "user", "worker", "gateway", "coordinator", "id", "message", "campaign", "letter",
        "token",
        "name", "type", "error", "reason", "details", "path", "address", "class", "property", "provider", "device",
        "version",
        "metadata.message",
    ]

    /// Whether a text is a whole number as JSON writes it, and none that readers would round.
    private static func isNumber(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard (1...15).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return digits.first != 0x30 || text == "0"
    }

    private static func textLine(label: String, event: LogEvent, fields: [(String, String)]) -> String {
        var line = "\(now()) \(event.level.rawValue.uppercased()) \(label): \(oneLine(event.message.description))"
        for (key, value) in fields {
            let isPlain =
                !value.isEmpty && !value.contains { $0.isWhitespace || $0 == "\"" || $0 == "=" }
                && !value.unicodeScalars.contains { $0.steersTerminals }
            line += " \(key)=\(isPlain ? value : quoted(value))"
        }
        return line + "\n"
    }

    private static func now() -> String {
        Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func oneLine(_ text: String) -> String {
        (text.contains { $0.isNewline } ? text.split { $0.isNewline }.joined(separator: " ") : text).forTerminals
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.steersTerminals: result += scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func standardError(_ line: String) {
        var line = line
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let written = write(STDERR_FILENO, rest.baseAddress, rest.count)
                if written < 0 && errno == EINTR { continue }
                // Nowhere to complain if stderr is gone.
                guard written > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
        }
    }
}
