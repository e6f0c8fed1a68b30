import MergeConformance
import TestSupport
import Testing

/// What the fuzzers have found to be of interest is run again and again, with the same functions.
@Suite(.timeLimit(.minutes(60))) struct FuzzCorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func everyKeptInputKeepsTheLaws(target: FuzzTarget) throws {
        let inputs = try FuzzCorpus(target.rawValue).inputs
        expectTrue(inputs.count > 10)
        for (name, bytes) in inputs {
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue)/\(name): \(error)")
            }
        }
    }

    /// What any number of changed bytes makes of the corpus keeps the laws too. Every run makes the same changes.
    @Test(arguments: FuzzTarget.allCases)
    func changedInputsKeepTheLaws(target: FuzzTarget) throws {
        var changes = ChangedInputs(of: try FuzzCorpus(target.rawValue).bytes)
        for round in 0..<ChangedInputs.rounds(400) {
            let bytes = changes.next()
            do {
                try target.run(bytes)
            } catch {
                Issue.record("round \(round), \(bytes): \(error)")
            }
        }
    }
}
