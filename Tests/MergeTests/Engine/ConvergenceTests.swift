import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

/// P1: whoever applies which side first, both end in the same state.
@Suite struct ConvergenceTests {
    private static let seeds = seedRanges(20, of: 100)

    @Test(arguments: seeds)
    func changesInsideMixedValuesConverge(seeds: Range<UInt64>) throws {
        var changed = 0
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            var left = MixedModel.null
            _ = try left.randomEdits(4, marker: 0, &random)
            var right = left
            let a = try left.randomEdits(.random(in: 1...3, using: &random), marker: 100, &random)
            let b = try right.randomEdits(.random(in: 1...3, using: &random), marker: 200, &random)
            let merged = try merge(a, rank: Bool.random(using: &random) ? 1 : 3, with: b, rank: 2)
            #expect(throws: Never.self, "seed \(seed): \(a) and \(b)") {
                for edit in merged.b { try left.apply(edit) }
                for edit in merged.a { try right.apply(edit) }
            }
            expectEqual(left, right, "seed \(seed): \(a) and \(b)")
            if merged != Merged(a: a, b: b) { changed += 1 }
        }
        expectTrue(changed > 10)
    }

    /// Every pair of sequences of up to three steps on one nullable integer.
    @Test(arguments: [(1, 2), (2, 1)] as [(UInt64, UInt64)])
    func assignmentsDefaultsAndIncrementsConverge(rankA: UInt64, rankB: UInt64) throws {
        let sides = [Int64(10), 20].map { marker in
            let steps: [Instruction] = [
                .set(.at("x"), .int(marker)), .set(.at("x"), .int(marker + 1), isDefault: true), .set(.at("x"), .null),
                .add(.at("x"), marker + 2),
            ]
            let pairs = steps.flatMap { first in steps.map { [first, $0] } }
            return steps.map { [$0] } + pairs + pairs.flatMap { pair in steps.map { pair + [$0] } }
        }
        for start in [MixedModel.null, .int(5)] {
            for a in sides[0] {
                // A default belongs to the creation of the object, so it comes first if at all.
                guard !a.dropFirst().contains(where: \.isDefault) else { continue }
                for b in sides[1] where !b.dropFirst().contains(where: \.isDefault) {
                    let merged = try merge(a, rank: rankA, with: b, rank: rankB)
                    var left = start
                    var right = start
                    for edit in a + merged.b { try left.apply(edit) }
                    for edit in b + merged.a { try right.apply(edit) }
                    expectEqual(left, right, "\(a) and \(b)")
                }
            }
        }
    }
}

extension Instruction {
    fileprivate var isDefault: Bool {
        if case .update(let update) = self { update.qualifier == .isDefault(true) } else { false }
    }
}
