import Changesets
import Foundation
import Merge
import MergeConformance
import TestSupport
import Testing

@Suite struct PairReplayTests {
    @Test(arguments: RecordedVectors.files("pairs"))
    func everyPairMergesAsTheReferenceDoes(file: URL) throws {
        let report = PairCheck.check(try InputFile(path: file.path))
        expectTrue(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        expectTrue(report.accepted.isEmpty)
        expectTrue(report.verdict.passed > 50)
    }

    /// Nothing depends on who is local (P6).
    @Test(arguments: RecordedVectors.files("pairs"))
    func everyPairMergesTheSameWithTheSidesExchanged(file: URL) throws {
        let engine = MergeEngine(compatibility: .stockClients)
        try forEachPair(file) { line, pair in
            expectEqual(pair.mirrored.merge(engine), pair.merge(engine).mirrored, "line \(line)")
        }
    }

    /// P3.
    @Test(arguments: RecordedVectors.files("pairs"), [PeerCompatibility.stockClients, .convergent])
    func theIndexChangesNothing(file: URL, compatibility: PeerCompatibility) throws {
        let indexed = MergeEngine(compatibility: compatibility)
        let exhaustive = MergeEngine(compatibility: compatibility, search: .exhaustive)
        try forEachPair(file) { line, pair in
            expectEqual(pair.merge(indexed), pair.merge(exhaustive), "line \(line)")
        }
    }

    /// Where the convergent rules give something else than the reference, one of the intended differences is the
    /// reason (docs/merge.md, "Where we differ").
    @Test(arguments: RecordedVectors.files("pairs"))
    func convergentRulesDifferOnlyOnPurpose(file: URL) throws {
        let report = PairCheck.check(try InputFile(path: file.path), compatibility: .convergent)
        expectTrue(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        if RecordedVectors.isComplete {
            expectEqual(report.accepted, Self.differences[file.deletingPathExtension().lastPathComponent])
        }
    }

    /// How many pairs of each recording come out differently, by what can be the reason.
    private static let differences = [
        "hostile": [
            "D1": 5, "D1+D3": 5, "D1+D3+clear": 2, "D1+clear": 3, "D2+D3+twins": 2, "D3": 66, "D3+clear": 1,
            "D3+twins": 2, "D6": 1, "clear": 6,
        ],
        "path": [
            "D1": 11, "D1+D2+twins": 1, "D1+D6+clear": 1, "D1+clear": 4, "D1+clear+twins": 1, "D1+twins": 1, "clear": 1,
            "clear+twins": 1,
        ],
        "scalar": ["D6": 8],
        "schema": ["D3": 29],
        "set": ["D2+twins": 4, "D6": 1, "twins": 2],
        "single": [
            "D1+D3": 5, "D1+D3+clear": 4, "D1+clear": 3, "D2+D3+clear+twins": 1, "D3": 48, "D3+clear": 3, "D3+twins": 2,
            "clear": 8,
        ],
    ]

    private func forEachPair(_ file: URL, _ body: (_ line: Int, RecordedPair) throws -> Void) throws {
        var count = 0
        for line in try InputFile(path: file.path).lines {
            try body(line.number ?? 0, try line.decode(RecordedPair.self))
            count += 1
        }
        expectTrue(count > 0)
    }
}

extension PairOutcome {
    /// The same with the roles exchanged.
    fileprivate var mirrored: PairOutcome {
        if case .merged(let ours, let theirs) = self { .merged(ours: theirs, theirs: ours) } else { self }
    }
}
