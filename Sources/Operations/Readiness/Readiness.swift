import Metrics
import Synchronization

/// The components that a process needs in order to work, and whether it has them; `/ready` answers from here.
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

    /// What each voice says of each component.
    private let state = Mutex<[String: [String: Component]]>([:])

    package init() {}

    /// Says how a component stands.
    ///
    /// - Parameter voice: who says so. A component is ready when all who speak of it say so.
    package func set(_ component: String, of voice: String = "", ready: Bool, reason: String = "") {
        state.withLock { components in
            components[component, default: [:]][voice] = Component(name: component, ready: ready, reason: reason)
            let isReady = Self.joined(components[component]).allSatisfy(\.ready)
            // Under the lock, so that the last to say so is the last to be shown.
            Gauge(label: "sluice.ready", dimensions: [("component", component)]).record(isReady ? 1 : 0)
        }
    }

    /// The components in the order of their names.
    package var components: [Component] {
        state.withLock { $0.values.flatMap { Self.joined($0) }.sorted { $0.name < $1.name } }
    }

    package func component(_ name: String) -> Component? { state.withLock { Self.joined($0[name]).first } }

    package var isReady: Bool {
        state.withLock { !$0.isEmpty && $0.values.allSatisfy { $0.values.allSatisfy(\.ready) } }
    }

    /// What the voices say together: the first that it is not ready, in the order of their names, else the first that says what it does.
    private static func joined(_ voices: [String: Component]?) -> [Component] {
        guard let voices else { return [] }
        let said = voices.sorted { $0.key < $1.key }.map(\.value)
        guard let chosen = said.first(where: { !$0.ready }) ?? said.first(where: { !$0.reason.isEmpty }) ?? said.first
        else { return [] }
        return [chosen]
    }
}
