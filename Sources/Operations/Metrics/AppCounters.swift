package import Metrics
import Synchronization

/// The metrics that a role counts by app: the cases are the metrics, their raw values the names.
package protocol AppCounter: RawRepresentable<String>, CaseIterable, Sendable {
    /// The label beside the app; nil if there is none.
    var label: CounterLabel? { get }
}

/// A label of a counter, with the values that it is known to have.
package struct CounterLabel: Sendable {
    package var name: String
    package var values: [String]

    package init(_ name: String, _ values: [String]) {
        self.name = name
        self.values = values
    }
}

/// Counts by app. All counters of an app are there, at 0, once the app was seen: a series that comes into being with its first
/// event has no increase, and nobody who asks for the increase learns of it.
package final class AppCounters<Name: AppCounter>: Sendable {
    /// Series of one metric that may be there without an event: half of those that a metric may have.
    private static var most: Int { PrometheusRegistry.Limits().seriesPerMetric / 2 }

    private let factory: any MetricsFactory
    private let seen = Mutex<Set<String>>([])

    package init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Shows an app's counters at 0, as long as there are few enough apps; of the others each counter comes with its first event.
    package func see(_ app: String) {
        guard !app.isEmpty, let place = place(of: app) else { return }
        for name in Name.allCases {
            let values = name.label?.values ?? []
            guard place * max(1, values.count) <= Self.most else { continue }
            if name.label == nil { _ = counter(name, app, nil) }
            for value in values { _ = counter(name, app, value) }
        }
    }

    /// - Parameter value: of the label beside the app.
    package func count(_ name: Name, _ app: String, _ value: String? = nil, by amount: Int = 1) {
        guard amount > 0 else { return }
        see(app)
        counter(name, app, value).increment(by: amount)
    }

    private func counter(_ name: Name, _ app: String, _ value: String?) -> Counter {
        var dimensions = [("app", app)]
        if let label = name.label, let value { dimensions.append((label.name, value)) }
        return Counter(label: name.rawValue, dimensions: dimensions, factory: factory)
    }

    /// The app's number among those seen, from 1; nil if it was seen before or comes too late.
    private func place(of app: String) -> Int? {
        seen.withLock { seen in
            guard seen.count < Self.most, seen.insert(app).inserted else { return nil }
            return seen.count
        }
    }
}
