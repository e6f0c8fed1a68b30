import Metrics
import Synchronization

/// What a process needs in order to work, and whether it has it; `/ready` answers from here.
///
/// A process is ready when it has at least one component and every component is ready. Roles name their components
/// `<role>.<what>`, such as `worker.broker`, so that all of them can share one readiness in `sluice up`. The metric `sluice_ready`
/// says the same of each component.
package final class Readiness: Sendable {
    package struct Component: Sendable, Equatable, Codable {
        package var name: String
        package var ready: Bool
        /// Why it is not ready, or what it does when it is; no secrets.
        package var reason: String
    }

    private let state = Mutex<[String: Component]>([:])

    package init() {}

    package func set(_ component: String, ready: Bool, reason: String = "") {
        state.withLock { components in
            components[component] = Component(name: component, ready: ready, reason: reason)
            // Under the lock, so that the last to say so is the last to be shown.
            Gauge(label: "sluice.ready", dimensions: [("component", component)]).record(ready ? 1 : 0)
        }
    }

    /// The components in the order of their names.
    package var components: [Component] {
        state.withLock { $0.values.sorted { $0.name < $1.name } }
    }

    package func component(_ name: String) -> Component? { state.withLock { $0[name] } }

    package var isReady: Bool {
        state.withLock { !$0.isEmpty && $0.values.allSatisfy(\.ready) }
    }
}
