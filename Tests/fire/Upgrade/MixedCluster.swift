import LocalCluster

/// A cluster of processes that begins as one of the release before.
struct MixedCluster: FireCluster {
    private let burning: BurningCluster
    private let previous: String

    /// - Parameter previous: the program of the release before.
    init(_ burning: BurningCluster, previous: String) {
        self.burning = burning
        self.previous = previous
    }

    var cluster: LocalCluster { burning.cluster }
    var url: String { burning.url }
    var unexpectedEnds: Int { burning.unexpectedEnds }
    var deletedQueues: Int { burning.deletedQueues }

    func start() async throws {
        burning.use(previous, for: ["coordinator"] + burning.workers + burning.gateways)
        _ = try await cluster.operate(["store", "init", "--without-roles"], binary: previous)
        try await burning.start()
    }

    func supervise(_ journal: Journal) async { await burning.supervise(journal) }
    func heal(_ journal: Journal) async throws { try await burning.heal(journal) }
}
