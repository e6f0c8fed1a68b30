package import CoreMetrics
import Synchronization

/// The metrics of a process, rendered for Prometheus.
///
/// Names: dots become underscores, counters end in `_total`, timers in `_seconds`. The number of series is bounded, per
/// metric and in all: a label set past the bound shares one series labelled `overflow="true"`, and
/// `sluice_metrics_overflow_total` counts how many were folded so.
package final class PrometheusRegistry: MetricsFactory {
    struct Limits {
        var seriesPerMetric = 256
        var metrics = 512
    }

    enum Kind: String { case counter, gauge, histogram }

    private struct Family {
        var kind: Kind
        var series: [String: any PrometheusSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var folded: UInt64 = 0
    }

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private static let overflowName = "sluice_metrics_overflow_total"
    private static let overflowLabels = "overflow=\"true\""

    private let limits: Limits
    private let state = Mutex(State())

    package convenience init() { self.init(limits: Limits()) }

    init(limits: Limits) { self.limits = limits }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        let name = PrometheusName.metric(label)
        return series(name, .histogram, dimensions) {
            PrometheusHistogram(bounds: PrometheusHistogram.Buckets.suited(to: name))
        }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = PrometheusName.withSuffix(PrometheusName.metric(label), "seconds")
        return series(name, .histogram, dimensions) {
            PrometheusHistogram(bounds: PrometheusHistogram.Buckets.seconds)
        }
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    /// Every series, sorted by name and labels.
    package func render() -> String {
        // Copied under the lock, rendered outside it: scraping must not hold up whoever counts.
        let (families, folded) = state.withLock { ($0.families, $0.folded) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += Self.head(name, family.kind)
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.render(name: name, labels: labels, into: &text)
            }
        }
        text += Self.head(Self.overflowName, .counter) + prometheusLine(Self.overflowName, "", String(folded))
        return text + ProcessMetrics.render()
    }

    private static func head(_ name: String, _ kind: Kind) -> String {
        "# HELP \(name) \(MetricHelp.text(for: name))\n# TYPE \(name) \(kind.rawValue)\n"
    }
}

extension PrometheusRegistry {
    private func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter {
        series(PrometheusName.withSuffix(PrometheusName.metric(label), "total"), .counter, dimensions) {
            PrometheusCounter()
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        series(PrometheusName.metric(label), .gauge, dimensions) { PrometheusGauge() }
    }

    private func series<Series: PrometheusSeries>(
        _ name: String, _ kind: Kind, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series {
        let labels = Self.labels(dimensions)
        return state.withLock { state in
            var name = name
            // Two kinds under one name would make the whole page unreadable to the scraper.
            if let family = state.families[name], family.kind != kind { name += "_\(kind.rawValue)" }
            if let known = state.families[name]?.series[labels] as? Series { return known }
            if state.families[name] == nil {
                guard state.families.count < limits.metrics else {
                    state.folded &+= 1
                    return make()  // Counted by nobody, but harmless to its owner.
                }
                state.families[name] = Family(kind: kind)
            }
            var key = labels
            if (state.families[name]?.series.count ?? 0) >= limits.seriesPerMetric {
                state.folded &+= 1
                key = Self.overflowLabels
                if let shared = state.families[name]?.series[key] as? Series { return shared }
            }
            let series = make()
            state.families[name]?.series[key] = series
            return series
        }
    }

    private func remove(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                // The overflow series belongs to many.
                guard labels != Self.overflowLabels else { return }
                state.families[name]?.series[labels] = nil
                if family.series.count == 1 { state.families[name] = nil }
                return
            }
        }
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        var seen: Set<String> = []
        return
            dimensions
            .map { (PrometheusName.label($0.0), PrometheusName.escaped($0.1)) }
            .filter { seen.insert($0.0).inserted }
            .sorted { $0.0 < $1.0 }
            .map { "\($0.0)=\"\($0.1)\"" }
            .joined(separator: ",")
    }
}
