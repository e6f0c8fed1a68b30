import Foundation
import Merge
import TestSupport
import Testing

@Suite struct ScenarioReplayTests {
    @Test(arguments: RecordedVectors.files("merge"))
    func everyIntegrationGivesTheRecordedBytes(file: URL) throws {
        let outcome = try RecordedScenario.replay(file, MergeEngine(compatibility: .stockClients))
        #expect(outcome.differences.isEmpty)
        #expect(outcome.events > 0)
        #expect(outcome.changed > 0)
    }

    /// The recordings reach none of the places where we differ from the reference on purpose.
    @Test(arguments: RecordedVectors.files("merge"))
    func convergentRulesGiveTheRecordedBytesToo(file: URL) throws {
        let outcome = try RecordedScenario.replay(file, MergeEngine(compatibility: .convergent))
        #expect(outcome.differences.isEmpty)
        #expect(outcome.events > 0)
    }

    @Test func theRecordingsAreThere() {
        #expect(!RecordedVectors.files("merge").isEmpty)
        #expect(!RecordedVectors.files("pairs").isEmpty)
    }
}
