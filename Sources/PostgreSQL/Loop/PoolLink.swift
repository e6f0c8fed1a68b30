import Logging
import Synchronization

/// What a client and its thread share.
final class PoolLink: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger
    let inbox = Inbox()
    private let statistics = Mutex(PostgresStatistics())
    private let ids = Atomic<UInt64>(1)

    init(_ configuration: PostgresConfiguration, _ logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    func makeID() -> UInt64 { ids.wrappingAdd(1, ordering: .relaxed).newValue }

    func count(_ change: (inout PostgresStatistics) -> Void) { statistics.withLock { change(&$0) } }
    var counted: PostgresStatistics { statistics.withLock { $0 } }

    /// Asks the thread for something; starts it with the first.
    ///
    /// - Returns: false if the client is closed.
    func push(_ command: Command) -> Bool {
        inbox.push(command) { LoopThread.start { PoolLoop(self).run() } }
    }
}
