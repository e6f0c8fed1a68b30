import Synchronization

/// Upload bytes of the whole gateway that no owner has acknowledged.
///
/// At the limit only those apps are held up that use an equal share of it or more: a flood from one app, or the slowness of
/// its owners, stops nobody else.
final class UploadBudget: Sendable {
    private struct State {
        var total = 0
        var apps: [String: Int] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())
    private let metrics: GatewayMetrics

    init(limit: Int, metrics: GatewayMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    func change(by bytes: Int, app: String) {
        guard bytes != 0 else { return }
        let total = state.withLock { state in
            state.total += bytes
            let rest = state.apps[app, default: 0] + bytes
            state.apps[app] = rest > 0 ? rest : nil
            return state.total
        }
        metrics.unacknowledged(total)
    }

    func isSpent(for app: String) -> Bool {
        state.withLock { state in
            guard state.total >= limit, let own = state.apps[app] else { return false }
            return own >= limit / state.apps.count
        }
    }
}
