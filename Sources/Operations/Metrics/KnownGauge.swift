package import Metrics
import Synchronization

/// A gauge whose series are there as long as their figures are known: what is not known is absent, and not what it was, nor 0.
package final class KnownGauge: Sendable {
    private let name: String
    private let labels: [String]
    private let factory: any MetricsFactory
    private let shown = Mutex<[[String]: Gauge]>([:])

    package init(_ name: String, _ labels: String..., factory: any MetricsFactory = MetricsSystem.factory) {
        self.name = name
        self.labels = labels
        self.factory = factory
    }

    /// Shows the one figure of a gauge without labels; nil takes it away.
    package func show(_ figure: Double?) { show(figure.map { [[]: $0] } ?? [:]) }

    /// - Parameter figures: by the values of the labels; series that are not among them are taken away.
    package func show(_ figures: [[String]: Double]) {
        shown.withLock { shown in
            for (values, gauge) in shown where figures[values] == nil {
                gauge.destroy()
                shown[values] = nil
            }
            for (values, figure) in figures {
                let gauge = shown[values] ?? Gauge(label: name, dimensions: dimensions(values), factory: factory)
                shown[values] = gauge
                gauge.record(figure)
            }
        }
    }

    private func dimensions(_ values: [String]) -> [(String, String)] { Array(zip(labels, values)) }
}
