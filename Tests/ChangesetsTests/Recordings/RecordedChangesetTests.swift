import Changesets
import Foundation
import MergeConformance
import TestSupport
import Testing

@Suite struct RecordedChangesetTests {
    @Test(arguments: RecordedVectors.files("merge"))
    func normalizedResultsReencodeToTheSameBytes(file: URL) throws {
        var count = 0
        for event in try RecordedBytes.scenario(file) {
            guard let result = event.result else { continue }
            let parts = try ConcatenatedChangesets.split(result.bytes)
            expectEqual(parts.flatMap { $0 }, result.bytes)
            for part in parts {
                try expectEqual(Changeset(parsing: part).encoded(), part)
                count += 1
            }
            for delivered in event.changesets ?? [] {
                let changeset = try Changeset(parsing: delivered.changeset.bytes)
                let again = try Changeset(parsing: changeset.encoded())
                expectEqual(again.instructions, changeset.instructions)
            }
        }
        expectTrue(count > 50)
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func localChangesetsReencodeToTheSameStreamingBytes(file: URL) throws {
        var embedded = EmbeddedOwners()
        var count = 0
        for event in try RecordedBytes.scenario(file) {
            guard event.event == "local", let bytes = event.changeset?.bytes else { continue }
            let changeset = try Changeset(parsing: bytes)
            var encoder = StreamingEncoder()
            for instruction in changeset.instructions {
                embedded.learn(instruction, changeset.strings)
                let owner = embedded.owner(of: instruction, changeset.strings)
                try encoder.append(instruction, from: changeset.strings, owner: owner)
            }
            expectEqual(encoder.bytes, bytes)
            count += 1
        }
        expectTrue(count > 50)
    }

    @Test(arguments: RecordedVectors.files("pairs"))
    func pairsDecodeToTheirNormalizedForm(file: URL) throws {
        for pair in try RecordedVectors.lines(of: file, as: RecordedBytes.Pair.self) {
            for recorded in pair.ours + pair.theirs {
                let bytes = recorded.changeset.bytes
                // Hostile ones may be refused, but then with an error.
                guard let changeset = try? Changeset(parsing: bytes) else {
                    expectEqual(pair.kind, "hostile")
                    continue
                }
                try expectEqual(Changeset(parsing: changeset.encoded()), changeset)
            }
            for after in (pair.ours_after ?? []) + (pair.theirs_after ?? []) where pair.kind != "hostile" {
                try expectEqual(Changeset(parsing: after.bytes).encoded(), after.bytes)
            }
        }
    }

    @Test(.enabled(if: RecordedVectors.isComplete), arguments: RecordedVectors.files("bench"))
    func benchmarkInputsDecode(file: URL) throws {
        let benchmark = try JSONDecoder().decode(RecordedBytes.Benchmark.self, from: Data(contentsOf: file))
        for recorded in benchmark.ours + benchmark.theirs {
            let changeset = try Changeset(parsing: recorded.changeset.bytes)
            expectTrue(!changeset.isEmpty)
            try expectEqual(Changeset(parsing: changeset.encoded()), changeset)
        }
    }

    @Test(.enabled(if: RecordedVectors.isComplete), arguments: RecordedVectors.files("transcripts"))
    func changesetsOnTheWireReencodeToTheSameBytes(file: URL) throws {
        let messages = try RecordedBytes.transcript(file)
        for bytes in messages.uploaded {
            let changeset = try Changeset(parsing: bytes)
            var encoder = StreamingEncoder()
            for instruction in changeset.instructions {
                try encoder.append(instruction, from: changeset.strings)
            }
            expectEqual(encoder.bytes, bytes)
        }
        for bytes in messages.downloaded {
            let changeset = try Changeset(parsing: bytes)
            try expectEqual(Changeset(parsing: changeset.encoded()), changeset)
        }
    }
}
