import Changesets
import Foundation
import MergeConformance
import TestSupport
import Testing

@Suite struct MergeTimingTests {
    @Test(arguments: [PeerCompatibility.stockClients, .convergent])
    func allOfBothSidesIsMerged(compatibility: PeerCompatibility) throws {
        let text = #"""
            {"ours": [{"version": 3, "timestamp": 5, "origin_file_ident": 2, "changeset": "3f0001540100"}],
             "theirs": [{"version": 3, "timestamp": 6, "origin_file_ident": 3, "changeset": "3f0001540100"},
                        {"version": 4, "timestamp": 7, "origin_file_ident": 3, "changeset": "3f0001540100"}]}
            """#
        let input = try InputFile(name: "bench", bytes: Array(text.utf8)).decode(BenchInput.self)
        let timing = try MergeTiming(input, compatibility: compatibility, runs: 2)
        expectEqual(timing.instructions, 3)
        expectEqual(timing.modifiedLocal, 1)
        // Two erasures of one class cancel each other, and the second of theirs stays.
        expectEqual(timing.encodedBytes, 6)
        for time in [timing.parse, timing.merge, timing.encode] {
            expectTrue(time >= .zero && time < .seconds(60))
        }
    }
}
