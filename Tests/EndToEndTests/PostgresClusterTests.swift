import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster whose store is in PostgreSQL, each process with the rights of its role alone.
@Suite(.needsBroker, .needsPostgres, .timeLimit(.minutes(5)), .serialized)
struct PostgresClusterTests {
    private static let password = "a secret of this test"

    @Test func devicesSyncAWorkerDiesAndATerminationIsAccounted() async throws {
        let schema = TestPostgres.uniqueName()
        let server = try TestPostgres.requireURL()
        let place = String(server.split(separator: "@", maxSplits: 1).last ?? "")
        func url(_ role: String) -> String {
            let password = Self.password.replacing(" ", with: "%20")
            return "postgres://\(schema)_\(role):\(password)@\(place)?schema=\(schema)"
        }
        try await withCluster(
            settings: ["SLUICE_STORE_URL": "\(server)?schema=\(schema)"],
            start: { cluster in
                let passwords = ["GATEWAY", "WORKER", "COORDINATOR"].map {
                    "SLUICE_STORE_\($0)_PASSWORD=\(Self.password)"
                }
                _ = try await cluster.shell("env", passwords + [cluster.sluice, "store", "init"])
                try await cluster.start(
                    "coordinator", ["coordinator", "--port", "\(cluster.coordinatorPort)"],
                    settings: ["SLUICE_STORE_URL": url("coordinator")])
                for worker in ["worker-1", "worker-2"] {
                    try await cluster.start(
                        worker, ["worker", "--id", worker], settings: ["SLUICE_STORE_URL": url("worker")])
                }
                try await cluster.start(
                    "gateway", ["gateway", "--port", "\(cluster.gatewayPort)"],
                    settings: ["SLUICE_STORE_URL": url("gateway")])
            }
        ) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let one = try await Device(cluster)
            let other = try await Device(cluster, mode: "discard")
            for number in 0..<20 { try one.create("before \(number)") }
            try await one.upload()
            try await other.download()
            #expect(try other.ids().count == 20)

            // Whoever owned the realm's slice, another goes on with what was committed.
            await cluster.kill("worker-1")
            try other.create("meanwhile")
            try await other.upload()
            try await one.download()
            #expect(try one.ids().contains("meanwhile"))
            try await cluster.start(
                "worker-1", ["worker", "--id", "worker-1"], settings: ["SLUICE_STORE_URL": url("worker")])

            try await one.suspend()
            try await other.suspend()
            try one.create("kept")
            try other.create("dropped")
            let termination = try await cluster.operateJSON(
                ResetTests.Termination.self, "sync", "terminate", cluster.app, "--enable")
            try await LocalCluster.retrying("both client realms are found") {
                let campaign = try await cluster.operateJSON(
                    ResetTests.Campaign.self, "campaigns", "show", termination.campaign)
                guard campaign.counts.found == 2 else { throw LocalClusterError("it stands at \(campaign.counts)") }
            }
            try one.session.resume()
            try other.session.resume()
            let counts = try await LocalCluster.retrying("the campaign is complete") {
                let campaign = try await cluster.operateJSON(
                    ResetTests.Campaign.self, "campaigns", "show", termination.campaign)
                guard campaign.counts.addsUp, campaign.counts.pending == 0 else {
                    throw LocalClusterError("it stands at \(campaign.counts)")
                }
                return campaign.counts
            }
            #expect(counts.found == 2 && counts.recovered == 1 && counts.discarded == 1)
            try await one.upload()
            try await other.download()
            #expect(try one.ids() == other.ids())
            #expect(try one.ids().contains("kept") && !one.ids().contains("dropped"))
            _ = try await cluster.operate("realms", "verify", "--app", cluster.app)
        }
    }
}
