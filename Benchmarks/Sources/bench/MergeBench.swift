import ArgumentParser
import Changesets
import Foundation
import Merge

/// Merges two offline clients' changesets over one base, both directions transformed: the inputs of vectors/bench.
struct MergeBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Parse, merge and encode the inputs recorded for the reference engine.")

    @Argument(help: "JSON files with `ours` and `theirs`.") var files: [String]
    @Option(help: "Runs of each; the best one counts.") var runs = 5
    @Flag(help: "Print one JSON line a file.") var json = false

    struct Input: Decodable {
        struct Recorded: Decodable {
            var version: UInt64
            var timestamp: UInt64
            var origin_file_ident: UInt64
            var changeset: String
        }
        var ours: [Recorded]
        var theirs: [Recorded]
    }

    private struct Line: Encodable {
        var file: String
        var parse_ms: Double
        var merge_ms: Double
        var encode_ms: Double
    }

    func run() throws {
        for file in files {
            let input = try JSONDecoder().decode(Input.self, from: try Data(contentsOf: URL(fileURLWithPath: file)))
            var best = (parse: Double.infinity, merge: Double.infinity, encode: Double.infinity)
            for _ in 0..<runs {
                let time = try measure(input)
                best = (min(best.parse, time.parse), min(best.merge, time.merge), min(best.encode, time.encode))
            }
            let name = URL(fileURLWithPath: file).lastPathComponent
            if json {
                let line = Line(
                    file: name, parse_ms: best.parse, merge_ms: best.merge, encode_ms: best.encode)
                print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
            } else {
                func text(_ value: Double) -> String { String(format: "%8.2f ms", value) }
                print("\(name): parse \(text(best.parse))  merge \(text(best.merge))  encode \(text(best.encode))")
            }
        }
    }

    private func measure(_ input: Input) throws -> (parse: Double, merge: Double, encode: Double) {
        let oursBytes = try input.ours.map { try bytes($0.changeset) }
        let theirsBytes = try input.theirs.map { try bytes($0.changeset) }
        let clock = ContinuousClock()
        var ours: [LocalChangeset] = []
        var theirs: [IncomingChangeset] = []
        let parse = try clock.measure {
            for (recorded, bytes) in zip(input.ours, oursBytes) {
                ours.append(
                    LocalChangeset(
                        version: recorded.version, originTimestamp: recorded.timestamp,
                        originFileIdent: recorded.origin_file_ident, changeset: try Changeset(parsing: bytes)))
            }
            for (recorded, bytes) in zip(input.theirs, theirsBytes) {
                theirs.append(
                    IncomingChangeset(
                        version: recorded.version, lastIntegratedLocalVersion: 0, originTimestamp: recorded.timestamp,
                        originFileIdent: recorded.origin_file_ident, changeset: try Changeset(parsing: bytes)))
            }
        }
        var result: TransformResult?
        let merge = try clock.measure {
            result = try MergeEngine(compatibility: .stockClients).transform(
                incoming: theirs, over: ours, currentLocalVersion: ours.last?.version ?? 0)
        }
        var encoded = 0
        let encode = clock.measure {
            for changeset in result?.incoming ?? [] { encoded += changeset.encoded().count }
            for reciprocal in result?.modifiedLocal ?? [] { encoded += reciprocal.changeset.encoded().count }
        }
        return (parse.milliseconds, merge.milliseconds, encode.milliseconds)
    }

    private func bytes(_ hex: String) throws -> [UInt8] {
        guard hex.utf8.count.isMultiple(of: 2) else { throw ValidationError("a changeset is not hexadecimal") }
        return try stride(from: 0, to: hex.utf8.count, by: 2).map { offset in
            let start = hex.utf8.index(hex.utf8.startIndex, offsetBy: offset)
            guard let byte = UInt8(hex[start..<hex.utf8.index(start, offsetBy: 2)], radix: 16) else {
                throw ValidationError("a changeset is not hexadecimal")
            }
            return byte
        }
    }
}

extension Duration {
    var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
