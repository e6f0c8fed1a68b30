import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster on three broker nodes, each of which dies in turn, and one hangs, while devices write.
@Suite(.needsBroker, .ownBroker("--nodes", "3"), .hangGuard, .serialized)
struct BrokerNodesTests {
    /// How long it takes until the realm's owner acknowledges something new: what clients notice of a fault.
    private func outage(_ device: Device, _ name: String) async throws -> Duration {
        let start = ContinuousClock.now
        try device.create(name)
        try await device.upload()
        return ContinuousClock.now - start
    }

    /// Returns when every quorum queue is on all three nodes again: another one may be lost then.
    private func allQueuesAreWhole() async throws {
        try await LocalCluster.retrying("every queue is on three nodes") {
            let lines = try await TestBroker.control("-q", "list_queues", "--no-table-headers", "type", "online")
            let wanting = lines.split(separator: "\n").filter {
                $0.contains("quorum") && $0.split(separator: ",").count < 3
            }
            guard wanting.isEmpty, lines.contains("quorum") else { throw LocalClusterError("\(wanting.count) are not") }
        }
    }

    @Test func nothingIsLostWhileEachNodeDiesAndOneHangs() async throws {
        try await withCluster(amqpQuery: "&connection_timeout=5000&heartbeat=3") { cluster in
            try await cluster.makeApp()
            let devices = [try await Device(cluster), try await Device(cluster)]
            let probe = try await Device(cluster)
            var probes: Set<String> = []
            let load = Load(devices)
            try await load.written(atLeast: 100)
            for number in 1...3 {
                try await allQueuesAreWhole()
                try await TestBroker.stopNode(number, crash: true)
                let dead = try await outage(probe, "killed-\(number)")
                probes.insert("killed-\(number)")
                try await TestBroker.startNode(number)
                print("node \(number) killed: \(dead) until an acknowledgement")
            }
            // Not the one that was killed last: it has neither connections nor leaders yet that a pause could hurt.
            try await allQueuesAreWhole()
            try await TestBroker.signalNode(1, "STOP")
            // Shorter than the minute after which the other nodes take it for dead, and longer than two heartbeats.
            async let resumed: Void = {
                try await Task.sleep(for: .seconds(15))
                try await TestBroker.signalNode(1, "CONT")
            }()
            let paused = try await outage(probe, "paused")
            try await resumed
            let after = try await outage(probe, "resumed")
            probes.formUnion(["paused", "resumed"])
            print("node 1 paused for 15 s: \(paused) until an acknowledgement, \(after) afterwards")
            let written = try await load.finish().union(probes)
            for device in devices { try await device.download() }
            let fresh = try await Device(cluster)
            let ids = try fresh.ids()
            expectEqual(ids, written, "\(ids.symmetricDifference(written).prefix(5))")
            for device in devices { try expectEqual(device.ids(), written) }
            expectTrue((devices + [probe]).allSatisfy { $0.resets.value == 0 })
            _ = try await cluster.operate("realms", "verify", "--app", cluster.app)
            let letters = try await cluster.operate("dead-letters", "list", "--json")
            expectEqual(letters.trimmingCharacters(in: .whitespacesAndNewlines), "[]", "\(letters)")
            print("node by node \(written.count) objects written")
        }
    }
}
