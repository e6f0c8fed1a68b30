import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// An operator with several clusters names one of them, and nothing of another cluster's is taken by accident.
    @Suite struct ContextCommandTests {
        private let file = FileManager.default.temporaryDirectory.appending(path: "contexts-\(UUID().uuidString).json")
            .path

        private func token(of cluster: LocalCluster) -> String { cluster.environment["SLUICE_ADMIN_TOKEN"] ?? "" }

        private func sluice(
            _ cluster: LocalCluster, _ arguments: [String], settings: [String: String] = [:]
        ) async -> String {
            // An operator's machine has no settings of a cluster; what a command would take by default leads nowhere.
            var environment = cluster.environment.filter { !$0.key.hasPrefix("SLUICE_") }
            environment["SLUICE_CONTEXTS"] = file
            environment["TOKEN_OF_ONE"] = token(of: cluster)
            do {
                return try await Program.run(
                    cluster.sluice, arguments, environment: environment.merging(settings) { $1 }, called: "sluice")
            } catch {
                return "\(error)"
            }
        }

        @Test func commandsGoToTheClusterThatTheContextNames() async throws {
            let cluster = try SharedCluster.cluster
            defer { try? FileManager.default.removeItem(atPath: file) }
            try await cluster.makeApp()
            let one = cluster.coordinatorURL
            _ = await sluice(
                cluster, ["context", "add", "one", "--coordinator-url", one, "--token-variable", "TOKEN_OF_ONE"])
            let nobody = "http://127.0.0.1:\(FreePort.next())"
            _ = await sluice(
                cluster, ["context", "add", "other", "--coordinator-url", nobody, "--token-variable", "TOKEN_OF_ONE"])

            var outcome = await sluice(cluster, ["apps", "show", cluster.app, "--context", "one"])
            expectTrue(outcome.contains(cluster.app), "\(outcome)")
            // A context wins over the environment where it is named, and yields to it where it is only the current one.
            outcome = await sluice(
                cluster, ["apps", "show", cluster.app, "--context", "one"], settings: ["SLUICE_COORDINATOR_URL": nobody]
            )
            expectTrue(outcome.contains(cluster.app), "\(outcome)")
            outcome = await sluice(cluster, ["context", "use", "other"])
            expectTrue(outcome.contains("other"), "\(outcome)")
            outcome = await sluice(cluster, ["apps", "list"])
            expectTrue(outcome.contains("exited with 69") && outcome.contains(nobody), "\(outcome)")
            let named = ["SLUICE_COORDINATOR_URL": one, "SLUICE_ADMIN_TOKEN": token(of: cluster)]
            outcome = await sluice(cluster, ["apps", "show", cluster.app], settings: named)
            expectTrue(outcome.contains(cluster.app), "\(outcome)")

            // The broker and the store of this machine are another cluster's.
            outcome = await sluice(cluster, ["store", "show", "--context", "one"])
            expectTrue(
                outcome.contains("exited with 65") && outcome.contains("does not say where that is"), "\(outcome)")
            outcome = await sluice(cluster, ["worker", "--context", "one"])
            expectTrue(outcome.contains("exited with 65"), "\(outcome)")
            outcome = await sluice(cluster, ["apps", "list", "--context", "nobody"])
            expectTrue(outcome.contains("exited with 66") && outcome.contains("there are one, other"), "\(outcome)")
            outcome = await sluice(
                cluster, ["context", "add", "bad", "--coordinator-url", "http://me:password@host", "--token-file", "x"])
            // What the test says of the command has the address.
            let said = outcome.components(separatedBy: "exited with 65").dropFirst().joined()
            expectTrue(!said.isEmpty && !said.contains("password@"), "\(outcome)")

            // A shell completes names by these, and is told of none where nobody answers.
            outcome = await sluice(cluster, ["names", "apps", "--context", "one"])
            expectTrue(outcome.split(separator: "\n").contains { $0 == cluster.app }, "\(outcome)")
            outcome = await sluice(cluster, ["names", "contexts"])
            expectEqual(outcome, "one\nother\nnone\n")
            outcome = await sluice(cluster, ["names", "campaigns", "--context", "other"])
            expectEqual(outcome, "")
            outcome = await sluice(cluster, ["context", "list", "--json"])
            expectTrue(outcome.contains("TOKEN_OF_ONE") && !outcome.contains(token(of: cluster)), "\(outcome)")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
            expectEqual(mode?.intValue, 0o600)
            outcome = await sluice(cluster, ["context", "remove", "other"])
            outcome = await sluice(cluster, ["context", "show"])
            expectTrue(outcome.contains("exited with 66"), "\(outcome)")
        }
    }
}
