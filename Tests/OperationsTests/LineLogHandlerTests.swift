import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Operations

private final class Lines: Sendable {
    let all = Mutex<[String]>([])
    func add(_ line: String) { all.withLock { $0.append(line) } }
}

@Suite struct LineLogHandlerTests {
    private func logger(_ format: LogFormat, _ lines: Lines) -> Logger {
        Logger(label: "sluice.test") { label in
            LineLogHandler(label: label, format: format, level: .info, sink: { lines.add($0) })
        }
    }

    @Test func jsonLinesCanBeParsedWhateverTheyHold() throws {
        let lines = Lines()
        logger(.json, lines).warning(
            "line one\nline \"two\"\u{1}", metadata: ["app": "tasks", "level": "mine", "realm": "\"store\\nw\""])
        let line = try #require(lines.all.withLock { $0.first })
        expectEqual(line.filter(\.isNewline).count, 1)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        expectEqual(object["message"], "line one\nline \"two\"\u{1}")
        expectEqual(object["level"], "warning")
        expectEqual(object["metadata.level"], "mine")
        expectEqual(object["realm"], "\"store\\nw\"")
        expectEqual(object["app"], "tasks")
    }

    @Test func textLinesStayOneLine() throws {
        let lines = Lines()
        logger(.text, lines).info("started\nagain", metadata: ["why": "two words", "n": "1"])
        let line = try #require(lines.all.withLock { $0.first })
        expectTrue(line.hasSuffix(" INFO sluice.test: started again n=1 why=\"two words\"\n"))
    }

    /// Names that clients give must not steer the terminal of whoever watches.
    @Test func numbersAreNumbersInJSONAndNamesAreNot() throws {
        let lines = Lines()
        logger(.json, lines).info(
            "n",
            metadata: [
                "epoch": "6", "zero": "0", "less": "-12", "padded": "007", "long": "12345678901234567", "app": "42",
                "text": "6 s",
            ])
        let line = try #require(lines.all.withLock { $0.first })
        for part in [
            #""epoch":6"#, #""zero":0"#, #""less":-12"#, #""padded":"007""#, #""long":"12345678901234567""#,
            #""app":"42""#,
            #""text":"6 s""#,
        ] { expectTrue(line.contains(part), "\(part) in \(line)") }
    }

    @Test(arguments: [LogFormat.json, .text]) func charactersThatSteerTerminalsAreEscaped(format: LogFormat) throws {
        let lines = Lines()
        let evil = "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}x\r\u{8}"
        logger(format, lines).info("made \(evil)", metadata: ["class": "\(evil)", "plain": "äß漢\u{1F600}"])
        let line = try #require(lines.all.withLock { $0.first })
        expectTrue(line.dropLast().unicodeScalars.allSatisfy { !$0.steersTerminals })
        expectTrue(line.contains("\\u001b[2J\\u009b31m\\u007f\\u202e\\u2066x") && line.contains("äß漢\u{1F600}"))
    }

    @Test func aTerminalIsShownWhatJSONSays() throws {
        let json = "{\"a\u{9b}\u{202e}\": \"\u{e0001}\"}"
        let shown = json.forTerminals
        expectEqual(shown, "{\"a\\u009b\\u202e\": \"\\udb40\\udc01\"}")
        func read(_ text: String) throws -> [String: String]? {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
        }
        try expectEqual(read(shown), read(json))
        expectEqual("two\nlines\tof text ü".forTerminals, "two\nlines\tof text ü")
        expectEqual("\u{1b}]0;x\u{7}".forTerminals, "\\u001b]0;x\\u0007")
    }

    @Test func longValuesAreCut() throws {
        let lines = Lines()
        logger(.json, lines).info("long", metadata: ["body": "\(String(repeating: "x", count: 1_000_000))"])
        try expectTrue(#require(lines.all.withLock { $0.first }).utf8.count < 5000)
    }

    @Test func aFloodOfOneKindOfLinesIsCutAndCounted() throws {
        let lines = Lines()
        let throttle = LogThrottle(burst: 5, perSecond: 1_000)
        let logger = Logger(label: "sluice.test") { label in
            LineLogHandler(label: label, format: .text, level: .info, throttle: throttle, sink: { lines.add($0) })
        }
        for number in 0..<2_000 { logger.notice("denied", metadata: ["n": "\(number)"]) }
        logger.notice("something else")
        let written = lines.all.withLock { $0 }
        expectEqual(written.last?.contains("something else"), true)
        let flood = written.filter { $0.contains("denied") }
        expectTrue(flood.count < 1_500)
        let leftOut = flood.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("left_out=") }.flatMap {
                Int($0.dropFirst("left_out=".count).filter(\.isNumber))
            }
        }
        // The lines that were left out last are not told yet.
        expectTrue(flood.count + leftOut.reduce(0, +) <= 2_000)
    }

    @Test func linesLeftOutAreCountedOnceThereIsRoom() {
        let throttle = LogThrottle(burst: 2, perSecond: 1)
        let start = ContinuousClock.now
        func ask(_ seconds: Int) -> Int? { throttle.leftOut(before: .info, "a", at: start + .seconds(seconds)) }
        expectTrue(ask(0) == 0 && ask(0) == 0 && ask(0) == nil && ask(0) == nil)
        expectEqual(throttle.leftOut(before: .warning, "a", at: start), 0)
        expectEqual(throttle.leftOut(before: .debug, "a", at: start), 0)
        expectTrue(ask(1) == 2 && ask(1) == nil)
        expectTrue(ask(100) == 1 && ask(100) == 0)
    }

    /// A message that is never the same takes no room without end.
    @Test func kindsAreBounded() {
        let throttle = LogThrottle(burst: 3, perSecond: 1, maxKinds: 10)
        let start = ContinuousClock.now
        let written = (0..<1_000).count { throttle.leftOut(before: .info, "message \($0)", at: start) != nil }
        expectEqual(written, 13)
    }
}
