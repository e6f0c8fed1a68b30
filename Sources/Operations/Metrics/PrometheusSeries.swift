import CoreMetrics
import Synchronization

/// One series: a metric with one set of labels. Handlers are shared by all metrics objects of the same name and labels.
protocol PrometheusSeries: AnyObject, Sendable {
    /// Appends the lines of the series; `labels` is `a="b",c="d"` or empty.
    func render(name: String, labels: String, into text: inout String)
}

func prometheusLine(_ name: String, _ labels: String, _ value: String) -> String {
    labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
}

final class PrometheusCounter: PrometheusSeries, CounterHandler, FloatingPointCounterHandler {
    private let value = Mutex<Double>(0)

    /// A counter only grows; Prometheus takes a fall for a restart.
    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        value.withLock { $0 += amount }
    }

    func reset() { value.withLock { $0 = 0 } }

    func render(name: String, labels: String, into text: inout String) {
        text += prometheusLine(name, labels, PrometheusName.number(value.withLock { $0 }))
    }
}

final class PrometheusGauge: PrometheusSeries, MeterHandler, RecorderHandler {
    private let value = Mutex<Double>(0)

    func set(_ new: Int64) { set(Double(new)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ new: Int64) { set(Double(new)) }
    func record(_ new: Double) { set(new) }

    func render(name: String, labels: String, into text: inout String) {
        text += prometheusLine(name, labels, PrometheusName.number(value.withLock { $0 }))
    }
}
