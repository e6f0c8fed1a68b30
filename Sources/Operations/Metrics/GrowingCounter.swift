package import Metrics
import Synchronization

/// Shows as a counter what somebody else counts from 0, and tells as a total now and then.
package final class GrowingCounter: Sendable {
    private let counter: Counter
    private let shown = Mutex(0)

    package init(_ counter: Counter) { self.counter = counter }

    /// - Parameter total: since the process began; a smaller one than before changes nothing.
    package func show(_ total: Int) {
        let more = shown.withLock { shown in
            defer { shown = max(shown, total) }
            return total - shown
        }
        if more > 0 { counter.increment(by: more) }
    }
}
