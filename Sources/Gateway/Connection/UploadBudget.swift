import Synchronization

/// Upload bytes of the whole gateway that no owner has acknowledged.
final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)
    private let metrics: GatewayMetrics

    init(limit: Int, metrics: GatewayMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    func change(by bytes: Int) {
        guard bytes != 0 else { return }
        let total = used.withLock { used in
            used += bytes
            return used
        }
        metrics.unacknowledged(total)
    }

    var isSpent: Bool { used.withLock { $0 >= limit } }
}
