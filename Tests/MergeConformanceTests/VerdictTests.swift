import MergeConformance
import TestSupport
import Testing

@Suite struct VerdictTests {
    @Test func theSummaryCountsBoth() {
        var verdict = Verdict()
        verdict.passed = 3
        verdict.failed = 1
        expectEqual(verdict.summary, "3 passed, 1 failed")
    }
}
