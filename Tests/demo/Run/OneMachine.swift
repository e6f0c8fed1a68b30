import LocalCluster
import Synchronization

/// Processes beside each other, with one broker and a folder of stores; a worker is killed.
final class OneMachine: Stage {
    let cluster: LocalCluster
    private let victim = Mutex<String?>(nil)

    init(_ cluster: LocalCluster) { self.cluster = cluster }

    var title: String { "A cluster: one coordinator, two workers, one gateway, each a process" }
    var threat: String { "a worker dies" }
    var relief: String { "the other worker took over" }
    var wayIn: String? { nil }

    func start() async throws {
        try await cluster.startAll()
        try await cluster.waitUntilReady(workers: 2)
    }

    func strike(worker: String) async throws -> String {
        victim.withLock { $0 = worker }
        await cluster.kill(worker)
        return "SIGKILL to \(worker), which owns the slice of the realm, while all clients write"
    }

    func mend(atTheEnd: Bool) async throws -> String? {
        if let worker = victim.withLock({ $0.take() }) { try await cluster.startWorker(worker) }
        return nil
    }

    func stop() async { await cluster.stop() }
}
