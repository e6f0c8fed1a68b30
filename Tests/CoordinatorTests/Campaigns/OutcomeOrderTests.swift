import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct OutcomeOrderTests {
    @Test(arguments: [
        (OutcomeReport.Result.recovered, OutcomeClass.recovered), (.notNeeded, .recovered), (.discarded, .discarded),
        (.manualPending, .manual), (.manualHandled, .manual), (.manualAtLaunch, .manual), (.failed, .failed),
        (.interrupted, .pending),
    ])
    func resultsFallIntoTheClassesOfTheSpecification(result: OutcomeReport.Result, expected: OutcomeClass) {
        expectEqual(OutcomeClass(result), expected)
    }

    @Test func aClientsOwnWordBeatsAnyInference() {
        let own = report(2, .discarded, at: 1)
        let inferred = report(2, .recovered, evidence: .inferred, confidence: 1, at: 999)
        expectTrue(own.supersedes(inferred) && !inferred.supersedes(own))
    }

    @Test func amongAClientsReportsTheLatestWins() {
        expectTrue(report(2, .recovered, at: 9).supersedes(report(2, .interrupted, at: 8)))
        expectTrue(!report(2, .interrupted, at: 8).supersedes(report(2, .recovered, at: 9)))
    }

    @Test func amongInferencesTheSurerThenTheLaterWins() {
        let medium = report(2, .discarded, evidence: .inferred, confidence: 0.5, at: 5)
        let high = report(2, .recovered, evidence: .inferred, confidence: 0.9, at: 4)
        let later = report(2, .failed, evidence: .inferred, confidence: 0.5, at: 6)
        let open = report(2, .interrupted, evidence: .inferred, confidence: 1, at: 7)
        expectTrue(high.supersedes(medium) && !medium.supersedes(high))
        expectTrue(later.supersedes(medium))
        expectTrue(medium.supersedes(open))
    }

    @Test func theOrderIsTotalSoThatTheSameReportAlwaysWins() {
        var all: [OutcomeReport] = []
        for result in OutcomeReport.Result.allCases {
            for evidence in [OutcomeReport.Evidence.client, .inferred] {
                for (confidence, at) in [(0.5, UInt64(1)), (0.5, 2), (0.9, 1)] {
                    all.append(report(2, result, evidence: evidence, confidence: confidence, at: at))
                }
            }
        }
        for a in all {
            expectTrue(!a.supersedes(a))
            for b in all where a != b {
                // A client's confidence does not matter, so only such pairs may tie.
                let tie = a.evidence == .client && a.result == b.result && a.at == b.at && b.evidence == .client
                expectTrue(tie || a.supersedes(b) != b.supersedes(a))
                for c in all where a.supersedes(b) && b.supersedes(c) { expectTrue(a.supersedes(c)) }
            }
        }
    }
}
