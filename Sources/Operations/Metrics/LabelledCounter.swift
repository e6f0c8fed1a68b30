package import Metrics

/// A counter with one label, whose series are all there from the start, at 0 until their first event.
package struct LabelledCounter: Sendable {
    private let name: String
    private let label: String
    private let factory: any MetricsFactory
    private let counters: [String: Counter]

    /// - Parameter values: those that are known of the label.
    package init(
        _ name: String, _ label: String, _ values: [String], factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.name = name
        self.label = label
        self.factory = factory
        counters = Dictionary(
            values.map { ($0, Counter(label: name, dimensions: [(label, $0)], factory: factory)) },
            uniquingKeysWith: { first, _ in first })
    }

    package func count(_ value: String, by amount: Int = 1) {
        let counter = counters[value] ?? Counter(label: name, dimensions: [(label, value)], factory: factory)
        counter.increment(by: amount)
    }
}
