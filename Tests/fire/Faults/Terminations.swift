import LocalCluster
import Synchronization

/// Terminates sync of one app now and then, and asks at the end how every reset went.
final class Terminations: Sendable {
    private struct Termination: Decodable { var campaign: String }

    struct Campaign: Decodable, Sendable {
        struct Counts: Decodable, Sendable {
            var found, notified, recovered, discarded, manual, failed, superseded, pending: Int
            var addsUp: Bool { found == recovered + discarded + manual + failed + superseded + pending }
        }
        var id: String
        var kind: String
        var reason: String?
        var counts: Counts

        /// Opened by a termination, and not because one client realm could not go on.
        var isTermination: Bool { kind == "termination" }
    }

    let app: String
    private let cluster: LocalCluster
    private let journal: Journal
    private let started = Mutex<[String]>([])

    init(app: String, cluster: LocalCluster, journal: Journal) {
        self.app = app
        self.cluster = cluster
        self.journal = journal
    }

    /// Asks until it is granted: an operator would, too, with the coordinator down for a moment.
    func terminate() async {
        do {
            let campaign = try await LocalCluster.retrying("sync of \(app) is terminated") {
                try await cluster.operateJSON(
                    Termination.self, "sync", "terminate", app, "--yes", "--reason", "fire", "--enable")
            }.campaign
            started.withLock { $0.append(campaign) }
            journal.note("campaign \(campaign)")
        } catch {
            journal.note("\(error)")
        }
    }

    /// All campaigns of the app, those included that were opened for single client realms.
    func campaigns() async throws -> [Campaign] {
        let all = try await campaigns(of: app)
        let missing = Set(started.withLock { $0 }).subtracting(all.map(\.id))
        guard missing.isEmpty else {
            throw LocalClusterError(
                "the coordinator does not know the campaigns \(missing.sorted()) that it had opened")
        }
        return all
    }

    func campaigns(of app: String) async throws -> [Campaign] {
        let list = ["campaigns", "list", "--app", app, "--limit", "1000"]
        return try await cluster.operateJSON([Campaign].self, list)
            + cluster.operateJSON([Campaign].self, list + ["--accounts"])
    }
}
