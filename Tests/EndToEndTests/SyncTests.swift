import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// What a cluster is for.
    @Suite struct SyncTests {
        @Test func aChangeReachesTheOtherDeviceThroughTheCluster() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let first = try await Device(cluster)
            let second = try await Device(cluster)
            try first.create("a", name: "from the first")
            try await first.upload()
            try await second.download()
            let realm = try second.realm
            let object = realm.dynamicObject(ofType: "Item", forPrimaryKey: "a")
            expectTrue(object?["name"] as? String == "from the first")
            try second.create("b")
            try await second.upload()
            try await LocalCluster.retrying("the live session hears of it unasked") {
                guard try first.ids() == ["a", "b"] else { throw LocalClusterError("it has \(try first.ids())") }
            }
        }
    }
}

extension ShakenClusterTests {
    /// Sync where processes die.
    @Suite struct SyncTests {
        @Test func aWorkerKilledUnderLoadLosesNothing() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let devices = [try await Device(cluster), try await Device(cluster), try await Device(cluster)]
            let owner = try await owner(cluster)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, device) in devices.enumerated() {
                    group.addTask {
                        for index in 0..<60 {
                            try device.create("\(number)-\(index)")
                            try await Task.sleep(for: .milliseconds(10))
                        }
                        try await device.upload()
                    }
                }
                try await Task.sleep(for: .milliseconds(250))
                await cluster.kill(owner)
                try await group.waitForAll()
            }
            for device in devices {
                try await device.download()
                try expectEqual(device.ids().count, 180)
            }
            // The coordinator hears of it with a heartbeat.
            try await LocalCluster.retrying("another worker is said to own the slice") {
                let now = try await self.owner(cluster)
                guard now != owner else { throw LocalClusterError("\(now) is") }
            }
        }

        @Test func aWorkerThatStopsHandsItsSlicesOver() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            let owner = try await owner(cluster)
            async let stopped: Void = cluster.stop(owner)
            for index in 0..<40 { try device.create("\(index)") }
            await stopped
            try await device.upload()
            let other = try await Device(cluster)
            try expectEqual(other.ids().count, 40)
        }

        @Test func aGatewayKilledAndStartedAgainLosesNothing() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let first = try await Device(cluster)
            let second = try await Device(cluster)
            for index in 0..<20 { try first.create("before-\(index)") }
            await cluster.kill("gateway")
            for index in 0..<20 { try first.create("during-\(index)") }
            try await cluster.startGateway()
            try first.session.reconnect()
            try second.session.reconnect()
            try await first.upload()
            try await second.download()
            try expectEqual(second.ids().count, 40)
        }

        private func owner(_ cluster: LocalCluster) async throws -> String {
            struct Slice: Decodable { var owner: String? }
            // A worker that has just come back is being handed its slices.
            return try await LocalCluster.retrying("the realm's slice has an owner") {
                let slices = try await cluster.operateJSON(
                    [Slice].self, "slices", "--app", cluster.app, "--partition", Device.partition)
                guard let owner = slices.first?.owner else { throw LocalClusterError("it has none") }
                return owner
            }
        }
    }
}
