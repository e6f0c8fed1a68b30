import TestSupport
import Testing

@testable import Load

@Suite struct LatencyHistogramTests {
    @Test func nothingHasNoPercentile() {
        expectTrue(LatencyHistogram().percentile(0.5) == nil)
    }

    @Test func percentilesAreWithinTwoPercentOfTheTruth() throws {
        var histogram = LatencyHistogram()
        for value in UInt64(1)...100_000 { histogram.add(microseconds: value) }
        for share in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let truth = share * 100_000
            let found = Double(try #require(histogram.percentile(share)))
            expectTrue(found >= truth && found <= truth * 1.02, "\(share): \(found), expected \(truth)")
        }
        expectEqual(histogram.percentile(1), 100_000)
        expectEqual(histogram.count, 100_000)
    }

    @Test func shortTimesAreExactAndEndlessOnesHaveABucket() {
        var histogram = LatencyHistogram()
        histogram.add(microseconds: 0)
        histogram.add(microseconds: 7)
        expectEqual(histogram.percentile(0.5), 0)
        expectEqual(histogram.percentile(1), 7)
        histogram.add(microseconds: .max)
        expectEqual(histogram.longest, .max)
        expectTrue(histogram.percentile(1) != nil)
    }
}
