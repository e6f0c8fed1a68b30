import Synchronization

/// Upload bytes of the whole gateway that no owner has acknowledged: plain bytes, as the gateway holds them.
///
/// An upload is asked for before it is inflated. At the limit only those apps are held up that would use more than an equal
/// share of it: a flood from one app, or the slowness of its owners, stops nobody else. An app with nothing under way may always
/// send an upload, so a gateway holds the limit and one upload of each app at most.
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

    /// Bytes by app, of the `count` apps that have the most.
    func largest(_ count: Int) -> [String: UInt64] {
        let apps = state.withLock(\.apps)
        let chosen = apps.count > count ? Array(apps.sorted { $0.value > $1.value }.prefix(count)) : Array(apps)
        return Dictionary(uniqueKeysWithValues: chosen.map { ($0.key, UInt64(clamping: $0.value)) })
    }

    /// Whether an app's upload of so many bytes may be taken now.
    func hasRoom(for bytes: Int, of app: String) -> Bool {
        state.withLock { state in
            guard state.total + bytes > limit, let own = state.apps[app] else { return true }
            return own + bytes <= limit / state.apps.count
        }
    }
}
