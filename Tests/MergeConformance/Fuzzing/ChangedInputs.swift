import Foundation
import SeededRandom

/// What fuzzers have kept for a target, with its name.
package struct FuzzCorpus: Sendable {
    package let inputs: [(name: String, bytes: [UInt8])]

    /// - Parameter target: the folder's name in `Tests/Fixtures/corpus`.
    package init(_ target: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/corpus/\(target)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        inputs = try names.sorted().map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
    }

    package var bytes: [[UInt8]] { inputs.map(\.bytes) }
}

/// Inputs with some of their bytes changed: for runs that are short and always the same.
package struct ChangedInputs: Sendable {
    private let inputs: [[UInt8]]
    private var random: SeededGenerator

    /// - Parameter seed: 1, unless `SLUICE_FUZZ_SEED` says otherwise.
    package init(of inputs: [[UInt8]], seed: UInt64 = Self.setting("SEED") ?? 1) {
        self.inputs = inputs
        random = SeededGenerator(seed: seed)
    }

    /// How many inputs to make: `SLUICE_FUZZ_ROUNDS`, for runs that take longer than a test should.
    package static func rounds(_ standard: Int) -> Int { setting("ROUNDS").map { Int(clamping: $0) } ?? standard }

    package static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["SLUICE_FUZZ_\(name)"].flatMap { UInt64($0) }
    }

    package mutating func next() -> [UInt8] {
        var bytes = inputs.randomElement(using: &random) ?? []
        for _ in 0...Int.random(in: 0..<6, using: &random) where !bytes.isEmpty {
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: position)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
            case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: bytes[position] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return bytes
    }
}
