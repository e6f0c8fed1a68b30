import ArgumentParser
import Foundation
import Merge
import MergeConformance

/// Merges two offline clients' changesets over one base, both directions transformed: the inputs of vectors/bench.
/// The measuring itself is that of `conformance merge-bench`.
struct MergeBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Parse, merge and encode the inputs recorded for the reference engine.")

    @Argument(help: "JSON files with `ours` and `theirs`, plain or gzip.") var files: [String]
    @Option(help: "Runs of each; the best one counts.") var runs = 5
    @Flag(help: "Print one JSON line a file.") var json = false

    private struct Line: Encodable {
        var file: String
        var parse_ms: Double
        var merge_ms: Double
        var encode_ms: Double
    }

    func run() throws {
        for path in files {
            let file = try InputFile(path: path)
            let best = try MergeTiming(file.decode(BenchInput.self), compatibility: .stockClients, runs: runs)
            if json {
                let line = Line(
                    file: file.name, parse_ms: best.parse.milliseconds, merge_ms: best.merge.milliseconds,
                    encode_ms: best.encode.milliseconds)
                print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
            } else {
                func text(_ time: Duration) -> String { String(format: "%8.2f ms", time.milliseconds) }
                print("\(file.name): parse \(text(best.parse))  merge \(text(best.merge))  encode \(text(best.encode))")
            }
        }
    }
}

extension Duration {
    var milliseconds: Double { inMilliseconds }
}
