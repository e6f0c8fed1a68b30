import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster each of whose roles has a broker user of its own, as `sluice broker init` makes them.
@Suite(.needsBroker, .ownBroker("--management"), .hangGuard, .serialized)
struct BrokerUsersTests {
    private struct Finding: Decodable {
        var subject: String
        var level: String
        var finding: String
    }

    private struct Made: Decodable {
        var applied: Bool
        var changes: [String]
        var commands: [String]?
    }

    private func broker(_ cluster: LocalCluster, _ arguments: String...) async throws -> String {
        try await broker(cluster, arguments)
    }

    private func broker(_ cluster: LocalCluster, _ arguments: [String]) async throws -> String {
        let url = try #require(TestBroker.managementURL)
        return try await cluster.shell(
            "env",
            ["SLUICE_MANAGEMENT_CREDENTIALS=guest:guest", "SLUICE_MANAGEMENT_URL=\(url)", cluster.sluice, "broker"]
                + arguments + ["--json"])
    }

    private func make(_ cluster: LocalCluster, _ further: String...) async throws -> Made {
        let text = try await broker(cluster, ["init", "--credentials", "\(cluster.folder)/secrets"] + further)
        for role in ["gateway", "worker", "coordinator", "operator"] {
            let password = try String(contentsOfFile: "\(cluster.folder)/secrets/\(role).password", encoding: .utf8)
            expectTrue(!text.contains(password.trimmingCharacters(in: .newlines)))
        }
        return try JSONDecoder().decode(Made.self, from: Data(text.utf8))
    }

    /// What `sluice broker check` does not find in order; the tests' own administrator aside.
    private func wrong(_ cluster: LocalCluster) async throws -> [String] {
        let url = try #require(TestBroker.managementURL)
        let text = try await cluster.shell(
            "sh", ["-c", "SLUICE_MANAGEMENT_URL=\(url) '\(cluster.sluice)' broker check --json; test $? -le 1"])
        return try JSONDecoder().decode([Finding].self, from: Data(text.utf8))
            .filter { $0.level != "ok" && $0.level != "unchecked" && $0.subject != "user guest" }
            .map { "\($0.subject): \($0.finding)" }
    }

    private func settings(_ cluster: LocalCluster, _ role: String) throws -> [String: String] {
        let file = "\(cluster.folder)/secrets/\(role).env"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        expectEqual(mode, 0o600)
        let line = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        try #require(parts.count == 2 && parts[0] == "SLUICE_AMQP_URL")
        return [parts[0]: parts[1]]
    }

    /// Makes the users by the commands that are printed where there is no management API.
    @Test func aClusterLivesOnTheRightsOfItsRoles() async throws {
        try await withCluster(start: { cluster in
            let printed = try await cluster.operateJSON(
                Made.self, "broker", "init", "--credentials", "\(cluster.folder)/secrets")
            expectTrue(!printed.applied)
            let commands = try #require(printed.commands)
            for line in commands where line.hasPrefix("rabbitmqctl ") {
                let folder = try #require(TestBroker.folder)
                let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
                // Each as it stands, with the tests' own rabbitmqctl in the place of the machine's.
                let words = line.replacing("rabbitmqctl ", with: "'\(root)/broker' ctl '\(folder)' -q ")
                _ = try await cluster.shell("bash", ["-c", words])
            }
            try await expectEqual(wrong(cluster), [])
            try await cluster.start(
                "coordinator", ["coordinator", "--port", "\(cluster.coordinatorPort)"],
                settings: settings(cluster, "coordinator"))
            for worker in ["worker-1", "worker-2"] {
                try await cluster.start(worker, ["worker", "--id", worker], settings: settings(cluster, "worker"))
            }
            try await cluster.start(
                "gateway", ["gateway", "--port", "\(cluster.gatewayPort)"], settings: settings(cluster, "gateway"))
        }) { cluster in
            try await cluster.liveThroughADeathAndATermination {
                try await cluster.start(
                    "worker-1", ["worker", "--id", "worker-1"], settings: settings(cluster, "worker"))
            }
            try await expectEqual(wrong(cluster), [])
            // The cluster lives on what the command makes, too: it finds nothing to change.
            try await expectEqual(make(cluster).changes, [])
            for process in ["coordinator", "gateway", "worker-1", "worker-2"] {
                let log = cluster.log(of: process)
                expectTrue(!log.contains("accessRefused"), "\(process)")
            }
            // What a person at the shell does, too.
            let login = try settings(cluster, "operator").map { "\($0)=\($1)" }
            for command in [["broker", "queues"], ["queues"], ["dead-letters", "list"]] {
                _ = try await cluster.shell("env", login + [cluster.sluice] + command)
            }
            let published = try await cluster.shell(
                "env",
                login + [
                    cluster.sluice, "publish", "reset", "--yes", "--app", cluster.app, "--partition", Device.partition,
                ])
            expectTrue(published.contains("published"))
        }
    }

    @Test func initNamesWhatIsInTheWayAndChangesNothing() async throws {
        try await withCluster(workers: 1) { cluster in
            // Processes with all rights have made everything but the users.
            let before = try await wrong(cluster)
            expectTrue(before.count == 4 && before.allSatisfy { $0.hasSuffix("does not exist") }, "\(before)")
            try await TestBroker.control("-q", "add_user", "\(cluster.prefix)-worker", "a password of somebody")
            var error = await #expect(throws: (any Error).self) { _ = try await make(cluster) }
            expectTrue("\(String(describing: error))".contains("--new-passwords"))
            try await TestBroker.control("-q", "set_user_tags", "\(cluster.prefix)-worker", "administrator")
            error = await #expect(throws: (any Error).self) { _ = try await make(cluster, "--new-passwords") }
            expectTrue("\(String(describing: error))".contains("somebody else's"))
            expectTrue(!FileManager.default.fileExists(atPath: "\(cluster.folder)/secrets"))
            try await TestBroker.control("-q", "set_user_tags", "\(cluster.prefix)-worker")
            try await expectEqual(make(cluster, "--new-passwords").changes.count, 5)
            try await expectEqual(wrong(cluster), [])

            // A cluster that does not know the broker is refused, as by its processes.
            error = await #expect(throws: (any Error).self) { _ = try await make(cluster, "--cluster", "ee") }
            expectTrue("\(String(describing: error))".contains("belongs to cluster"))
            try await TestBroker.control(
                "-q", "set_permissions", "\(cluster.prefix)-gateway", ".*", ".*", ".*")
            let broad = try await wrong(cluster)
            expectTrue(broad.count == 3 && broad.allSatisfy { $0.contains("too broad: may") }, "\(broad)")
            try await expectEqual(make(cluster).changes, ["permissions of \(cluster.prefix)-gateway"])
            try await expectEqual(wrong(cluster), [])
        }
    }

    @Test func initMakesAllThatIsMissingOnce() async throws {
        try await withIdleCluster { cluster in
            let first = try await make(cluster)
            expectTrue(first.applied && first.changes.contains("10 exchanges") && first.changes.contains("6 queues"))
            try await expectEqual(make(cluster).changes, [])
            try await expectEqual(wrong(cluster), [])
        }
    }
}
