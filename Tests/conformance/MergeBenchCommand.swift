import ArgumentParser
import Foundation
import MergeConformance

struct MergeBenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge-bench",
        abstract: "Time parsing, merging and encoding two long offline histories.",
        discussion: """
            The best of some runs after one that does not count, each step by itself. Reading the file and its hexadecimal
            digits is not timed. With --json the last line is one object: {"parse_ms", "merge_ms", "encode_ms"}.
            """)

    @Argument(help: "JSON, plain or gzip: `ours` and `theirs`.") var files: [String]
    @Option(help: "Runs that count.") var runs = 5
    @Option(help: "Whose rules to merge by: stock or convergent.") var compatibility = Compatibility.stock
    @Flag(help: "Print the times as one JSON object on the last line; one file only.") var json = false

    func validate() throws {
        if runs < 1 { throw ValidationError("--runs: expected 1 or more, found \(runs)") }
        if json, files.count != 1 { throw ValidationError("--json: expected one file, found \(files.count)") }
    }

    private struct Times: Encodable {
        var parse_ms: Double
        var merge_ms: Double
        var encode_ms: Double
    }

    func run() throws {
        if !json { print("\(Self.padded("file", 28))  instructions    parse ms    merge ms   encode ms") }
        for path in files {
            let input: BenchInput
            let timing: MergeTiming
            do {
                let file = try InputFile(path: path)
                input = try file.decode(BenchInput.self)
                timing = try MergeTiming(input, compatibility: compatibility.merge, runs: runs)
            } catch {
                FileHandle.standardError.write(Data("\(path): \(error)\n".utf8))
                throw ExitCode(2)
            }
            if json {
                try printJSON(timing)
            } else {
                let times = [timing.parse, timing.merge, timing.encode]
                let name = URL(fileURLWithPath: path).lastPathComponent
                let numbers = times.map { String(format: "%12.2f", $0.inMilliseconds) }.joined()
                print("\(Self.padded(name, 28))  \(String(format: "%12d", timing.instructions))\(numbers)")
            }
        }
    }

    private func printJSON(_ timing: MergeTiming) throws {
        print("\(timing.instructions) instructions, \(timing.encodedBytes) bytes encoded")
        func rounded(_ duration: Duration) -> Double { (duration.inMilliseconds * 1e4).rounded() / 1e4 }
        let times = Times(
            parse_ms: rounded(timing.parse), merge_ms: rounded(timing.merge), encode_ms: rounded(timing.encode))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(times), as: UTF8.self))
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
