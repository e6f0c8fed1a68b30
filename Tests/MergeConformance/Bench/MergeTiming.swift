package import Changesets
import Merge

/// How long it takes to merge all of one side with all of the other, in the three steps that the reference was timed in.
///
/// Reading the file is none of them: parsing begins with the changesets' bytes. One merge transforms both directions.
/// Encoding is that of every incoming changeset and of every local one that the merge has changed: what a history stores.
package struct MergeTiming: Sendable {
    package var parse = Duration.seconds(1 << 40)
    package var merge = Duration.seconds(1 << 40)
    package var encode = Duration.seconds(1 << 40)
    /// The number of instructions of both sides together.
    package private(set) var instructions = 0
    package private(set) var encodedBytes = 0
    package private(set) var modifiedLocal = 0

    /// The best of some runs, each step by itself, after one that does not count.
    package init(_ input: BenchInput, compatibility: PeerCompatibility, runs: Int) throws {
        for run in 0...max(1, runs) {
            var timing = self
            try timing.measure(input, MergeEngine(compatibility: compatibility))
            if run == 0 { timing.forgetTimes() }
            self = timing
        }
    }

    private mutating func forgetTimes() {
        (parse, merge, encode) = (.seconds(1 << 40), .seconds(1 << 40), .seconds(1 << 40))
    }

    private mutating func measure(_ input: BenchInput, _ engine: MergeEngine) throws {
        let clock = ContinuousClock()
        var ours: [LocalChangeset] = []
        var theirs: [IncomingChangeset] = []
        ours.reserveCapacity(input.ours.count)
        theirs.reserveCapacity(input.theirs.count)
        parse = min(
            parse,
            try clock.measure {
                for recorded in input.ours { ours.append(try recorded.local()) }
                for recorded in input.theirs { theirs.append(try recorded.incoming()) }
            })

        var result: TransformResult?
        merge = min(
            merge,
            try clock.measure {
                result = try engine.transform(
                    incoming: theirs, over: ours, currentLocalVersion: ours.last?.version ?? 0)
            })

        var bytes = 0
        encode = min(
            encode,
            clock.measure {
                for changeset in result?.incoming ?? [] { bytes += changeset.encoded().count }
                for reciprocal in result?.modifiedLocal ?? [] { bytes += reciprocal.changeset.encoded().count }
            })
        encodedBytes = bytes
        modifiedLocal = result?.modifiedLocal.count ?? 0
        instructions =
            ours.reduce(0) { $0 + $1.changeset.instructions.count }
            + theirs.reduce(0) { $0 + $1.changeset.instructions.count }
    }
}

extension Duration {
    package var inMilliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
