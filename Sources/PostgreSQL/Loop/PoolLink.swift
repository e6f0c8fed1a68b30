import Logging
import Loops
import Synchronization

/// What a client and its thread share.
final class PoolLink: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger
    let inbox = Inbox<Command>()
    private let statistics = Mutex(PostgresStatistics())
    private let metrics: PostgresMetrics?
    private let ids = Atomic<UInt64>(1)

    init(_ configuration: PostgresConfiguration, _ logger: Logger) {
        self.configuration = configuration
        metrics = configuration.metrics.map { PostgresMetrics(prefix: $0) }
        self.logger = logger
    }

    func makeID() -> UInt64 { ids.wrappingAdd(1, ordering: .relaxed).newValue }

    func count(_ change: (inout PostgresStatistics) -> Void) {
        let (before, after) = statistics.withLock { statistics in
            let before = statistics
            change(&statistics)
            return (before, statistics)
        }
        metrics?.count(from: before, to: after)
    }

    var counted: PostgresStatistics { statistics.withLock { $0 } }

    /// Asks the thread for something; starts it with the first.
    ///
    /// - Returns: false if the client is closed.
    func push(_ command: Command) -> Bool {
        inbox.push(command) { LoopThread.start("postgres") { PoolLoop(self).run() } }
    }
}
