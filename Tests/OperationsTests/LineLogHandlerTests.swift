import Foundation
import Logging
import Synchronization
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
        #expect(line.filter(\.isNewline).count == 1)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["message"] == "line one\nline \"two\"\u{1}")
        #expect(object["level"] == "warning")
        #expect(object["metadata.level"] == "mine")
        #expect(object["realm"] == "\"store\\nw\"")
        #expect(object["app"] == "tasks")
    }

    @Test func textLinesStayOneLine() throws {
        let lines = Lines()
        logger(.text, lines).info("started\nagain", metadata: ["why": "two words", "n": "1"])
        let line = try #require(lines.all.withLock { $0.first })
        #expect(line.hasSuffix(" INFO sluice.test: started again n=1 why=\"two words\"\n"))
    }

    @Test func longValuesAreCut() throws {
        let lines = Lines()
        logger(.json, lines).info("long", metadata: ["body": "\(String(repeating: "x", count: 1_000_000))"])
        #expect(try #require(lines.all.withLock { $0.first }).utf8.count < 5000)
    }
}
