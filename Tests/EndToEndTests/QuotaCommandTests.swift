import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// Quotas and the app's schema at the shell, against a real cluster.
    @Suite struct QuotaCommandTests {
        private struct Entry: Decodable {
            var quota: String
            var limit: Int
            var from: String
            var used: Int?
        }

        private struct Pruned: Decodable {
            var count: Int
            var kept: Int
            var dryRun: Bool
        }

        private func quotas(_ cluster: LocalCluster) async throws -> [String: Entry] {
            let json = try await cluster.operate("apps", "quotas", cluster.app, "--json")
            let entries = try JSONDecoder().decode([Entry].self, from: Data(json.utf8))
            return Dictionary(uniqueKeysWithValues: entries.map { ($0.quota, $0) })
        }

        @Test func quotasAreSetShownAndFollowedAndUnusedSchemaIsTakenBack() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--quota", "userRealms=7")
            try await expectEqual(quotas(cluster)["userRealms"]?.limit, 7)
            let device = try await Device(cluster)
            try device.create("one")
            try await device.upload()
            let used = try await quotas(cluster)
            expectTrue(used["realms"]?.used == 1 && used["clientFiles"]?.used == 1)
            expectTrue((used["bytes"]?.used ?? 0) > 10 && used["bytes"]?.from == "default")

            // Beyond its quota an upload waits at its client, and is taken once there is room.
            try await cluster.operate("apps", "set", cluster.app, "--quota", "userBytes=1048576")
            // An owner follows within seconds: what comes before may still be taken.
            var tries = 0
            try await LocalCluster.retrying("the upload is refused for now") {
                if tries % 50 == 0 { try device.create("\(tries)" + String(repeating: "x", count: 2 << 20)) }
                tries += 1
                let metrics =
                    try await cluster.ask("worker-1", "/metrics").text + cluster.ask("worker-2", "/metrics").text
                guard metrics.contains("sluice_worker_quotas_met_total"), metrics.contains("quota=\"userBytes\"") else {
                    throw LocalClusterError("no upload was refused yet")
                }
            }
            try await cluster.operate("apps", "set", cluster.app, "--quota", "userBytes=default")
            try await expectEqual(quotas(cluster)["userBytes"]?.from, "default")
            try await device.upload()

            let json = try await cluster.operate("schema", "prune", "--app", cluster.app, "--dry-run", "--json")
            let pruned = try JSONDecoder().decode(Pruned.self, from: Data(json.utf8))
            expectTrue(pruned.dryRun && pruned.kept > 0)
        }
    }
}
