import Synchronization

/// Looks at the memory of the cluster's processes several times a second and keeps the highest and the lowest.
final class Watch: Sendable {
    private let processes: @Sendable () -> [String: Int32]
    private let seen = Mutex<(peak: [String: Int], low: [String: Int])>(([:], [:]))

    init(processes: @escaping @Sendable () -> [String: Int32]) { self.processes = processes }

    /// Looks at the memory until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            look()
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func look() {
        let now = Footprint.memory(of: processes()).memory
        seen.withLock { seen in
            seen.peak.merge(now) { max($0, $1) }
            seen.low.merge(now) { min($0, $1) }
        }
    }

    /// The least since the last `take`, which goes on.
    var low: [String: Int] { seen.withLock { $0.low } }

    /// The most and the least since the last call. What is left of an attack is the least: a password that is hashed at the
    /// moment takes 128 MiB, and gives them back.
    func take() -> (peak: [String: Int], low: [String: Int]) {
        look()
        return seen.withLock { seen in
            defer { seen = ([:], [:]) }
            return seen
        }
    }
}
