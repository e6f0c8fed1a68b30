import Synchronization

/// What a process needs in order to work, and whether it has it; `/ready` answers from here.
///
/// A process is ready when it has at least one component and every component is ready. Roles name their components
/// `<role>.<what>`, such as `worker.broker`, so that all of them can share one readiness in `sluice up`.
package final class Readiness: Sendable {
    package struct Component: Sendable, Equatable, Codable {
        package var name: String
        package var ready: Bool
        /// Why it is not ready, or what it does when it is; no secrets.
        package var reason: String

        package init(name: String, ready: Bool, reason: String) {
            self.name = name
            self.ready = ready
            self.reason = reason
        }
    }

    private let state: Mutex<[String: Component]>

    /// - Parameter expecting: components that count as not ready until they report.
    package init(expecting names: [String] = []) {
        state = Mutex(
            Dictionary(
                names.map { ($0, Component(name: $0, ready: false, reason: "starting")) },
                uniquingKeysWith: { first, _ in first }))
    }

    package func set(_ component: String, ready: Bool, reason: String = "") {
        state.withLock { $0[component] = Component(name: component, ready: ready, reason: reason) }
    }

    package func remove(_ component: String) {
        state.withLock { $0[component] = nil }
    }

    /// In the order of their names.
    package var components: [Component] {
        state.withLock { $0.values.sorted { $0.name < $1.name } }
    }

    package func component(_ name: String) -> Component? { state.withLock { $0[name] } }

    package var isReady: Bool {
        state.withLock { !$0.isEmpty && $0.values.allSatisfy(\.ready) }
    }
}
