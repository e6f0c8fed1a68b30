import Synchronization

/// Starts again what ends by itself, as a machine's service manager would, and counts how often it had to.
package final class Supervisor: Sendable {
    private let cluster: LocalCluster
    private let names: [String]
    /// Processes that are down on purpose.
    private let down = Mutex<Set<String>>([])
    private let restarts = Mutex(0)

    package init(_ cluster: LocalCluster, names: [String]) {
        self.cluster = cluster
        self.names = names
    }

    /// How often a process ended that nobody had ended.
    package var unexpectedEnds: Int { restarts.withLock { $0 } }

    package func isDown(_ name: String) -> Bool { down.withLock { $0.contains(name) } }

    /// Says whether a process is down on purpose from now on.
    package func setDown(_ name: String, _ isDown: Bool) {
        down.withLock { if isDown { $0.insert(name) } else { $0.remove(name) } }
    }

    /// Looks every second, until it is cancelled.
    package func run(_ journal: Journal, start: (String) async throws -> Void) async {
        while !Task.isCancelled {
            for name in names where !cluster.isRunning(name) && !isDown(name) {
                restarts.withLock { $0 += 1 }
                journal.note("\(name) ended by itself and is started again")
                do { try await start(name) } catch { journal.note("\(name) cannot be started: \(error)") }
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }
}
