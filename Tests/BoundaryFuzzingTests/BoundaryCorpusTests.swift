import BoundaryFuzzing
import MergeConformance
import TestSupport
import Testing

/// What the fuzzers have found to be of interest at the server's and the client's boundary is run again and again.
@Suite(.timeLimit(.minutes(60))) struct BoundaryCorpusTests {
    @Test(arguments: BoundaryTarget.allCases)
    func everyKeptInputKeepsTheLaws(target: BoundaryTarget) async throws {
        let inputs = try FuzzCorpus(target.rawValue).inputs
        expectTrue(inputs.count > 10)
        for (name, bytes) in inputs {
            do {
                try await target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue)/\(name): \(error)")
            }
        }
    }

    /// What any number of changed bytes makes of the corpus keeps the laws too. Every run makes the same changes.
    @Test(arguments: BoundaryTarget.allCases)
    func changedInputsKeepTheLaws(target: BoundaryTarget) async throws {
        var changes = ChangedInputs(of: try FuzzCorpus(target.rawValue).bytes)
        for round in 0..<ChangedInputs.rounds(200) {
            let bytes = changes.next()
            do {
                try await target.run(bytes)
            } catch {
                Issue.record("round \(round), \(bytes): \(error)")
            }
        }
    }
}
