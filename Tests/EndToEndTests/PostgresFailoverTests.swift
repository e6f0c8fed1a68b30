import Foundation
import LocalCluster
import TestSupport
import Testing

/// The primary of a database dies, and its synchronous standby takes its place.
@Suite(.needsBroker, .needsPostgres, .hangGuard) struct PostgresFailoverTests {
    /// The addresses of a primary and of its standby, each in a folder of its own.
    private func withPair(_ body: (_ primary: String, _ standby: String, _ url: String) async throws -> Void)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pair-\(UInt32.random(in: 0 ... .max))")
            .path
        let (primary, standby) = ("\(folder)/primary", "\(folder)/standby")
        func run() async throws {
            let first = try url(in: try await TestPostgres.run(["start", primary, "--durable"]))
            let second = try url(in: try await TestPostgres.run(["standby", standby, primary]))
            let place = try #require(second.split(separator: "@").last?.split(separator: "/").first)
            let slash = try #require(first.lastIndex(of: "/"))
            // As an operator names them: libpq looks for the one that takes writes.
            try await body(primary, standby, "\(first[..<slash]),\(place)\(first[slash...])")
        }
        var failure: (any Error)?
        do { try await run() } catch { failure = error }
        for server in [primary, standby] { _ = try? await TestPostgres.run(["stop", server, "--kill"]) }
        try? FileManager.default.removeItem(atPath: folder)
        if let failure { throw failure }
    }

    private func url(in printed: String) throws -> Substring {
        let line = printed.split(separator: "\n").first { $0.hasPrefix("SLUICE_TEST_POSTGRES_URL=") }
        return try #require(line).dropFirst("SLUICE_TEST_POSTGRES_URL=".count)
    }

    private static let lease = 5

    private struct Diagnosis: Decodable {
        var subject: String
        var level: String
        var finding: String
    }

    @Test func theClusterGoesOnWithThePromotedStandbyAndNothingIsLost() async throws {
        try await withPair { primary, standby, url in
            try await withCluster(
                workers: 2, slices: 2,
                settings: ["SLUICE_STORE_URL": url, "SLUICE_WORKER_LEASE_SECONDS": "\(Self.lease)"]
            ) { cluster in
                try await cluster.makeApp()
                let checked = try await cluster.shell(
                    "bash", ["-c", "\(cluster.sluice) store check || [[ $? == 1 ]]"])
                expectTrue(checked.contains("on the disks of two machines"))
                let examined = try await cluster.shell(
                    "bash", ["-c", "\(cluster.sluice) doctor --skip-integrity --json || [[ $? -le 2 ]]"])
                let diagnoses = try JSONDecoder().decode([Diagnosis].self, from: Data(examined.utf8))
                let durability = diagnoses.first { $0.subject == "durability" }
                expectTrue(durability?.level == "ok" && durability?.finding.contains("two machines") == true)

                // The standby alone is refused, with what to do.
                let alone = try self.url(in: try await TestPostgres.run(["env", standby]))
                let refused = try await cluster.shell(
                    "bash", ["-c", "\(cluster.sluice) store check --store '\(alone)' || [[ $? == 2 ]]"])
                expectTrue(refused.contains("takes no writes"), "\(refused)")

                var devices: [Device] = []
                for _ in 0..<3 { devices.append(try await Device(cluster)) }
                let load = Load(devices)
                try await load.written(atLeast: 60)
                _ = try await TestPostgres.run(["stop", primary, "--kill"])
                // The standby was told of one of its own, which is not there.
                for statement in ["ALTER SYSTEM SET synchronous_standby_names = 'third'", "SELECT pg_reload_conf()"] {
                    _ = try await TestPostgres.run(["sql", standby, statement])
                }
                _ = try await TestPostgres.run(["promote", standby])
                try await saysWhatCommitsWaitFor(cluster)
                // Longer than a lease: a time that passes, and not one that something is given to happen in.
                try await Task.sleep(for: .seconds(Self.lease + 1))
                for statement in ["ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()"] {
                    _ = try await TestPostgres.run(["sql", standby, statement])
                }
                try await load.written(atLeast: load.count + 60)
                for name in ["worker-1", "worker-2"] { try await cluster.waitFor(name, ready: true) }
                let written = try await load.finish()
                for device in devices {
                    try await device.download()
                    try expectTrue(device.ids() == written && device.resets.value == 0)
                }
                let witness = try await Device(cluster)
                try expectEqual(witness.ids(), written)
                try await expectEqual(cluster.operate("dead-letters", "list", "--json"), "[]\n")
                let verified = try await cluster.operate("realms", "verify", "--all")
                expectTrue(verified.contains("replay equal"))
            }
        }
    }

    /// `/ready` of a worker that waits, `sluice doctor` and `sluice store check`.
    private func saysWhatCommitsWaitFor(_ cluster: LocalCluster) async throws {
        let words = "synchronous_standby_names is 'third', and no standby is connected"
        try await LocalCluster.retrying("a worker says what the database waits for") {
            for name in ["worker-1", "worker-2"] {
                let answer = try await cluster.ask(name, "/ready")
                if answer.status != 200, answer.text.contains(words), answer.text.contains("pg_reload_conf()") {
                    return
                }
            }
            throw LocalClusterError("neither does")
        }
        for command in ["doctor --skip-integrity", "store check"] {
            let said = try await cluster.shell("bash", ["-c", "\(cluster.sluice) \(command) || [[ $? == 2 ]]"])
            expectTrue(said.contains(words), "\(command): \(said)")
        }
    }
}
