import Synchronization

/// The best of several runs.
final class Best: Sendable {
    private let best = Mutex(0.0)

    func note(_ value: Double) { best.withLock { $0 = max($0, value) } }
    var value: Double { best.withLock { $0 } }
}
