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
        expectTrue(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        expectTrue(report.accepted.isEmpty)
        expectTrue(report.verdict.passed > 50)
    }

    /// The recordings reach none of the places where we differ from the reference on purpose.
    @Test(arguments: RecordedVectors.files("merge"))
    func convergentRulesGiveTheRecordedBytesToo(file: URL) throws {
        let report = ScenarioReplay.check(try InputFile(path: file.path), compatibility: .convergent)
        expectTrue(report.hasPassed, "\(report.details.joined(separator: "\n"))")
        expectTrue(report.accepted.isEmpty)
    }

    @Test func theRecordingsAreThere() {
        expectTrue(!RecordedVectors.files("merge").isEmpty)
        expectTrue(!RecordedVectors.files("pairs").isEmpty)
    }
}
