import ArgumentParser
import Foundation
import Messages
import Operations

/// `--json`, shared by every command that shows something.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of a table.")
    var json = false

    /// Prints a value as JSON, or a text that says the same.
    func show(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        json ? try Printing.json(value) : Printing.line(text())
    }

    /// Prints a value as JSON, or a table.
    func show(_ value: some Encodable, _ table: @autoclosure () -> Table) throws {
        try show(value, table().rendered())
    }
}

enum Printing {
    static func json(_ value: some Encodable) throws { line(try text(of: value)) }

    /// A value as JSON in one line.
    static func text(of value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.message.encode(value), as: UTF8.self)
    }

    /// Prints what may have come from anybody: nothing of it steers the terminal.
    static func line(_ text: String) {
        write(text.forTerminals, to: .standardOutput)
    }

    static func note(_ text: String) {
        write(text.forTerminals, to: .standardError)
    }

    /// Writes a line. Ends the process when the reader has gone (`| head`).
    private static func write(_ text: String, to handle: FileHandle) {
        do { try handle.write(contentsOf: Data((text + "\n").utf8)) } catch { Program.end(ExitCode(141)) }
    }

    /// Replaces what is on a terminal; in a pipe or a log it is printed below, after a blank line.
    static func refresh(_ text: String) {
        let text = text.forTerminals
        write(isatty(STDOUT_FILENO) == 1 ? "\u{1b}[H\u{1b}[2J" + text : text + "\n", to: .standardOutput)
    }

    static func age(ofUnixMilliseconds at: UInt64, now: Date = Date()) -> String {
        let seconds = max(0, now.timeIntervalSince1970 - Double(at) / 1000)
        return switch seconds {
        case ..<90: "\(Int(seconds)) s"
        case ..<5400: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86400)) d"
        }
    }

    static func rate(_ perSecond: Double) -> String { String(format: perSecond < 10 ? "%.1f" : "%.0f", perSecond) }

    static func time(ofUnixMilliseconds at: UInt64) -> String {
        Date(timeIntervalSince1970: Double(at) / 1000).formatted(.iso8601)
    }
}

extension JSONEncoder {
    /// The encoder for documents that people read: one member a line.
    static var readable: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return encoder
    }
}
