import LocalCluster

/// A cluster that a run has its clients work with and harm done to.
protocol FireCluster: Sendable {
    var cluster: LocalCluster { get }
    /// Where the clients connect to.
    var url: String { get }
    /// How often a process ended that nobody had ended.
    var unexpectedEnds: Int { get }
    /// How many queues were deleted because the broker could not bring them up after a crash of its own.
    var deletedQueues: Int { get }

    func start() async throws
    /// Starts again what has ended by itself; until it is cancelled.
    func supervise(_ journal: Journal) async
    /// Undoes all harm.
    func heal(_ journal: Journal) async throws
}

extension BurningCluster: FireCluster {}

extension HostCluster: FireCluster {
    var deletedQueues: Int { 0 }

    func heal(_ journal: Journal) async throws {
        try await heal()
        journal.note("everything is up again")
    }
}
