import CoreMetrics
import Synchronization

/// A distribution in fixed buckets.
final class PrometheusHistogram: PrometheusSeries, TimerHandler, RecorderHandler {
    /// Upper bounds, ascending, without +Inf.
    enum Buckets {
        /// The bounds from a fast commit to the longest wait that anything has a deadline for.
        static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
        static let bytes = [256.0, 1024, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]
        static let counts = [1.0, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]

        static func suited(to name: String) -> [Double] {
            if name.hasSuffix("_seconds") || name.hasSuffix("_duration") { return seconds }
            return name.hasSuffix("bytes") ? bytes : counts
        }
    }

    private struct State {
        var counts: [UInt64]
        var sum = 0.0
        var total: UInt64 = 0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 }
        state.withLock {
            if let bucket { $0.counts[bucket] &+= 1 }
            $0.sum += value
            $0.total &+= 1
        }
    }

    func render(name: String, labels: String, into text: inout String) {
        let (counts, sum, total) = state.withLock { ($0.counts, $0.sum, $0.total) }
        let prefix = labels.isEmpty ? "" : "\(labels),"
        var cumulative: UInt64 = 0
        for (bound, count) in zip(bounds, counts) {
            cumulative &+= count
            text += prometheusLine(
                "\(name)_bucket", "\(prefix)le=\"\(PrometheusName.number(bound))\"", String(cumulative))
        }
        text += prometheusLine("\(name)_bucket", "\(prefix)le=\"+Inf\"", String(total))
        text += prometheusLine("\(name)_sum", labels, PrometheusName.number(sum))
        text += prometheusLine("\(name)_count", labels, String(total))
    }
}
