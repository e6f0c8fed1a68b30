import CoreMetrics
import Foundation
import TestSupport
import Testing

@testable import Operations

@Suite struct PrometheusRegistryTests {
    @Test func countersEndInTotalAndDotsBecomeUnderscores() {
        let registry = PrometheusRegistry()
        Counter(label: "sluice.outcomes.processed", factory: registry).increment(by: 3)
        Counter(label: "sluice.outcomes.processed", factory: registry).increment()
        let text = registry.render()
        expectTrue(text.contains("# TYPE sluice_outcomes_processed_total counter\n"))
        expectTrue(text.contains("sluice_outcomes_processed_total 4\n"))
    }

    @Test func everySeriesSaysWhatItIs() {
        let registry = PrometheusRegistry()
        Counter(label: "sluice.worker.slices.taken", factory: registry).increment()
        Counter(label: "sluice.made.up", factory: registry).increment()
        let lines = registry.render().split(separator: "\n")
        let typed = lines.filter { $0.hasPrefix("# TYPE ") }.compactMap { $0.split(separator: " ").dropFirst(2).first }
        let helped = lines.filter { $0.hasPrefix("# HELP ") }.compactMap { $0.split(separator: " ").dropFirst(2).first }
        expectTrue(typed == helped && Set(typed).count == typed.count)
        expectTrue(lines.contains("# HELP sluice_worker_slices_taken_total Slices taken"))
    }

    @Test func aProcessTellsOfItself() throws {
        let text = PrometheusRegistry().render()
        func value(_ name: String) throws -> Double {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name) ") })
            return try #require(Double(line.dropFirst(name.count + 1)))
        }
        try expectTrue(value("process_resident_memory_bytes") > 1_000_000)
        try expectTrue(value("process_cpu_seconds_total") > 0)
        let (open, most) = (try value("process_open_fds"), try value("process_max_fds"))
        expectTrue(open >= 3 && open <= most)
        try expectTrue(value("process_threads") >= 1)
        let start = try value("process_start_time_seconds")
        expectTrue(abs(start - Double(time(nil))) < 86_400)
    }

    @Test func timersAreHistogramsInSeconds() {
        let registry = PrometheusRegistry()
        let timer = Timer(label: "sluice.commit.duration", factory: registry)
        timer.recordMilliseconds(3)
        timer.recordSeconds(120)
        let text = registry.render()
        expectTrue(text.contains("sluice_commit_duration_seconds_bucket{le=\"0.0025\"} 0\n"))
        expectTrue(text.contains("sluice_commit_duration_seconds_bucket{le=\"0.005\"} 1\n"))
        expectTrue(text.contains("sluice_commit_duration_seconds_bucket{le=\"60\"} 1\n"))
        expectTrue(text.contains("sluice_commit_duration_seconds_bucket{le=\"+Inf\"} 2\n"))
        expectTrue(text.contains("sluice_commit_duration_seconds_count 2\n"))
        expectTrue(text.contains("sluice_commit_duration_seconds_sum 120.003\n"))
    }

    @Test func metersAndUnaggregatedRecordersAreGauges() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "sluice.sessions", factory: registry)
        meter.set(5)
        meter.decrement(by: 1.5)
        Gauge(label: "sluice.depth", factory: registry).record(7)
        expectTrue(registry.render().contains("# TYPE sluice_sessions gauge\nsluice_sessions 3.5\n"))
        expectTrue(registry.render().contains("sluice_depth 7\n"))
    }

    @Test func labelsAreEscapedSortedAndSanitized() {
        let registry = PrometheusRegistry()
        let dimensions = [("app-id", "a\"b\\c\nd"), ("Zone", "x"), ("le", "1"), ("app.id", "second of one name")]
        Counter(label: "9.odd name", dimensions: dimensions, factory: registry).increment()
        expectTrue(registry.render().contains("_9_odd_name_total{Zone=\"x\",app_id=\"a\\\"b\\\\c\\nd\",le_=\"1\"} 1\n"))
    }

    @Test func labelSetsPastTheBoundShareOneSeriesAndAreCounted() {
        let registry = PrometheusRegistry(limits: .init(seriesPerMetric: 2, metrics: 10))
        for app in 0..<10 {
            Counter(label: "requests", dimensions: [("app", "\(app)")], factory: registry).increment()
        }
        let text = registry.render()
        expectTrue(text.contains("requests_total{app=\"1\"} 1\n"))
        expectTrue(!text.contains("requests_total{app=\"2\"}"))
        expectTrue(text.contains("requests_total{overflow=\"true\"} 8\n"))
        expectTrue(text.contains("sluice_metrics_overflow_total 8\n"))
    }

    @Test func metricsPastTheBoundAreNotRendered() {
        let registry = PrometheusRegistry(limits: .init(seriesPerMetric: 2, metrics: 3))
        for number in 0..<9 { Counter(label: "metric\(number)", factory: registry).increment() }
        expectEqual(registry.render().split(separator: "\n").filter { $0.hasPrefix("metric") }.count, 3)
        expectTrue(registry.render().contains("sluice_metrics_overflow_total 6\n"))
    }

    @Test func aNameWithTwoKindsIsSplitIntoTwoMetrics() {
        let registry = PrometheusRegistry()
        Gauge(label: "size", factory: registry).record(1)
        Recorder(label: "size", factory: registry).record(2)
        let text = registry.render()
        expectTrue(text.contains("# TYPE size gauge\n"))
        expectTrue(text.contains("# TYPE size_histogram histogram\n"))
    }

    @Test func aDestroyedMetricLeavesThePage() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "gone", factory: registry)
        counter.increment()
        expectTrue(registry.render().contains("gone_total 1"))
        counter.destroy()
        expectTrue(!registry.render().contains("gone_total"))
    }

    @Test func manyTasksCountTogether() async {
        let registry = PrometheusRegistry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 { Counter(label: "shared", factory: registry).increment() }
                }
            }
        }
        expectTrue(registry.render().contains("shared_total 4000\n"))
    }
}
