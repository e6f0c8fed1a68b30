import Foundation
import MergeConformance
import SeededRandom
import Testing

/// What the fuzzers have found to be of interest is run again and again, with the same functions.
@Suite(.timeLimit(.minutes(5))) struct FuzzCorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/corpus")

    @Test(arguments: FuzzTarget.allCases)
    func everyKeptInputKeepsTheLaws(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(inputs.count > 10)
        for (name, bytes) in inputs {
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue)/\(name): \(error)")
            }
        }
    }

    /// What any number of changed bytes makes of the corpus keeps the laws too. Every run makes the same changes.
    @Test(arguments: FuzzTarget.allCases)
    func changedInputsKeepTheLaws(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        var random = SeededGenerator(seed: 1)
        for round in 0..<400 {
            guard var bytes = inputs.randomElement(using: &random)?.bytes else { return }
            for _ in 0...Int.random(in: 0..<6, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: position)
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
                case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                default: bytes[position] = UInt8.random(in: 0...255, using: &random)
                }
            }
            do {
                try target.run(bytes)
            } catch {
                Issue.record("round \(round), \(bytes): \(error)")
            }
        }
    }

    private static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = folder.appending(path: target.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        return try names.sorted().map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
    }
}
