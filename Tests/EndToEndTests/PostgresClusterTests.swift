import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster whose store is in PostgreSQL, each process with the rights of its role alone.
@Suite(.needsBroker, .needsPostgres, .hangGuard, .serialized)
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
            try await cluster.liveThroughADeathAndATermination {
                try await cluster.start(
                    "worker-1", ["worker", "--id", "worker-1"], settings: ["SLUICE_STORE_URL": url("worker")])
            }
        }
    }
}
