import Foundation
import Merge
import TestSupport
import Testing

@Suite struct PairReplayTests {
    @Test(arguments: RecordedVectors.files("pairs"))
    func everyPairMergesAsTheReferenceDoes(file: URL) throws {
        try expectRecordedResults(file, MergeEngine(compatibility: .stockClients)) { $0 }
    }

    private func expectRecordedResults(
        _ file: URL, _ engine: MergeEngine, _ prepare: (RecordedPair) -> RecordedPair
    ) throws {
        let pairs = try RecordedVectors.lines(of: file, as: RecordedPair.self)
        #expect(!pairs.isEmpty)
        for (line, recorded) in pairs.enumerated() {
            let pair = prepare(recorded)
            let result = try pair.merge(engine)
            #expect(pair.matches(result), "line \(line + 1): \(result), expected \(pair.error ?? "a result")")
        }
    }
}
