import Changesets
import Foundation
import Merge
import MergeConformance
import TestSupport
import Testing

@Suite struct ScenarioReplayTests {
    @Test(arguments: RecordedVectors.files("merge"))
    func everyIntegrationGivesTheRecordedBytesAndEveryPeerTheRecordedState(file: URL) throws {
        let report = ScenarioReplay.check(try InputFile(path: file.path))
        #expect(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        #expect(report.accepted.isEmpty)
        #expect(report.verdict.passed > 50)
    }

    /// The recordings reach none of the places where we differ from the reference on purpose.
    @Test(arguments: RecordedVectors.files("merge"))
    func convergentRulesGiveTheRecordedBytesToo(file: URL) throws {
        let report = ScenarioReplay.check(try InputFile(path: file.path), compatibility: .convergent)
        #expect(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        #expect(report.accepted.isEmpty)
    }

    @Test func theRecordingsAreThere() {
        #expect(!RecordedVectors.files("merge").isEmpty)
        #expect(!RecordedVectors.files("pairs").isEmpty)
    }
}
