import MergeConformance
import TestSupport
import Testing

/// Every combination of small changes in every order. Large families are thinned out here; `conformance exhaustive` runs
/// them whole.
@Suite(.hangGuard) struct ExhaustiveTests {
    @Test(arguments: ExhaustiveFamily.all.map(\.name))
    func everythingConvergesByTheConvergentRules(family name: String) throws {
        let family = try #require(ExhaustiveFamily.named(name))
        let report = ExhaustiveRun(family, .convergent, sparseness: sparseness(family)).run()
        expectEqual(report.cases, family.caseCount)
        for (script, failure) in report.failures { Issue.record("\(failure)\n\(script)") }
    }

    /// Returns the sparseness that leaves about five hundred cases of each family; an odd number of moves and a prime
    /// do not fall into step.
    private func sparseness(_ family: ExhaustiveFamily) -> Int {
        max(1, family.caseCount / 500) | 1
    }
}
