import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster gets more slices: devices go on where they were.
@Suite(.needsBroker, .hangGuard, .serialized) struct GrowthTests {
    enum Engine: String, CaseIterable, Sendable { case sqlite, postgres }

    private struct Growth: Decodable {
        var from: Int
        var to: Int
        var state: String
        var realms: Int
        var moving: Int
        var continued: Bool
    }

    private struct Queue: Decodable {
        var queue: String
        var ready: Int
    }

    @Test(arguments: TestPostgres.isAvailable ? Engine.allCases : [.sqlite])
    func devicesGoOnAfterAGrowthThatWasKilledAgainAndAgain(_ engine: Engine) async throws {
        let schema = engine == .postgres ? TestPostgres.uniqueName() : nil
        let settings = try schema.map { ["SLUICE_STORE_URL": "\(try TestPostgres.requireURL())?schema=\($0)"] } ?? [:]
        try await withCluster(slices: 2, settings: settings) { cluster in
            try await cluster.makeApp()
            var devices: [Device] = []
            for number in 0..<8 { devices.append(try await Device(cluster, partition: "store-\(number % 6)")) }
            let load = Load(devices, named: "before-")
            try await load.written(atLeast: 120)
            _ = try await load.finish()
            for device in devices { try await device.download() }
            let before = try devices.map { try $0.ids() }

            let running = await #expect(throws: LocalClusterError.self) {
                try await cluster.operate("slices", "grow", "--to", "8")
            }
            expectEqual(running?.description.contains("stop all processes first"), true)
            let plan = try await cluster.operateJSON(Growth.self, "slices", "grow", "--to", "8", "--dry-run")
            expectTrue(plan.state == "planned" && plan.from == 2 && plan.realms == 6 && plan.moving > 0)

            await cluster.stop("gateway")
            await cluster.stop("coordinator")
            try await LocalCluster.retrying("the workers have dealt with all messages") {
                let queues = try await cluster.operateJSON([Queue].self, "broker", "queues")
                let waiting = queues.filter { $0.queue.contains(".slice.") && $0.ready > 0 }
                guard waiting.isEmpty else { throw LocalClusterError("\(waiting)") }
            }
            await cluster.stop("worker-1")
            await cluster.stop("worker-2")
            // What devices write meanwhile comes when the cluster is back.
            for (number, device) in devices.enumerated() { try device.create("meanwhile-\(number)") }

            try await grow(cluster)
            cluster.slices = 8
            try await cluster.startAll()
            try await cluster.waitUntilReady(workers: 2)
            for device in devices { try await device.upload() }
            for (number, device) in devices.enumerated() {
                try await device.download()
                let siblings = devices.indices.filter { $0 % 6 == number % 6 }
                let expected = before[number].union(siblings.map { "meanwhile-\($0)" })
                try expectEqual(device.ids(), expected)
                expectEqual(device.resets.value, 0)
            }
            // A device that was never there gets the same.
            let witness = try await Device(cluster, partition: "store-1")
            try await witness.download()
            try expectEqual(witness.ids(), devices[1].ids())
            let verified = try await cluster.operate("realms", "verify", "--all")
            expectTrue(verified.contains("replay equal"))
            _ = try await cluster.operate("realms", "list")
            await cluster.stop()
            if let schema {
                _ = try await cluster.shell(
                    "psql", ["-q", try TestPostgres.requireURL(), "-c", "DROP SCHEMA \(schema) CASCADE"])
            }
        }
    }

    /// Kills the command ever later, until it gets through.
    private func grow(_ cluster: LocalCluster) async throws {
        var patience = Duration.milliseconds(60)
        var isRefused = false
        while true {
            try await cluster.start("grow", "slices", "grow", "--to", "8")
            try await Task.sleep(for: patience)
            guard cluster.isRunning("grow") else { break }
            await cluster.kill("grow")
            // The command may have come to its end just before.
            guard !cluster.log(of: "grow").contains("has 8 slices") else { break }
            patience += .milliseconds(70)
            // Whatever it has left: processes stay away from it.
            guard !isRefused, cluster.log(of: "grow").contains("copying") else { continue }
            isRefused = true
            let refused = await #expect(throws: LocalClusterError.self) { try await cluster.operate("worker") }
            expectEqual(refused?.description.contains("sluice slices grow --to 8 goes on"), true)
        }
        expectTrue(cluster.log(of: "grow").contains("has 8 slices"))
        let again = await #expect(throws: LocalClusterError.self) {
            try await cluster.operate("slices", "grow", "--to", "8")
        }
        expectEqual(again?.description.contains("the cluster has 8 slices"), true)
        let old = await #expect(throws: LocalClusterError.self) { try await cluster.operate("worker") }
        expectEqual(old?.description.contains("SLUICE_SLICES=8"), true)
    }
}
