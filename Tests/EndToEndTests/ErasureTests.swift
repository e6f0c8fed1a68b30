import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// Realms, users and apps are taken away from a running cluster.
    @Suite struct ErasureTests {
        private struct Campaign: Decodable {
            struct Counts: Decodable {
                var found: Int
                var recovered: Int
                var pending: Int
            }
            var kind: String
            var state: String
            var counts: Counts
        }

        private struct Plan: Decodable {
            var realms: Int
            var clientRealms: Int
            var objects: Int
        }

        private struct Deletion: Decodable {
            var realms: Int
            var finishedAt: UInt64?
        }

        @Test func clientsOfAnErasedRealmResetNowOrLater() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let connected = try await Device(cluster)
            let away = try await Device(cluster)
            let other = try await Device(cluster, partition: "elsewhere")
            for number in 0..<20 { try connected.create("gone-\(number)") }
            try other.create("stays")
            try await connected.upload()
            try await other.upload()
            try await away.download()
            try expectEqual(away.ids().count, 20)
            try await away.suspend()
            try away.create("offline")

            let realm = ["--app", cluster.app, "--partition", Device.partition]
            let plan = try await cluster.operateJSON(
                Plan.self, "realms", "erase", "--app", cluster.app, "--partition", Device.partition, "--dry-run")
            expectTrue(plan.realms == 1 && plan.clientRealms == 2 && plan.objects == 20)
            await #expect(throws: LocalClusterError.self) {
                _ = try await cluster.operate(["realms", "erase"] + realm)
            }
            _ = try await cluster.operate(
                ["realms", "erase"] + realm + ["--yes", "--campaign", "erasure-of-\(cluster.app)", "--reason", "over"])

            try await LocalCluster.retrying("the connected client has reset") {
                guard connected.resets.value == 1 else { throw LocalClusterError("it has not") }
            }
            try await connected.download()
            try expectTrue(connected.ids().isEmpty)
            try connected.create("new")
            try await connected.upload()
            // Worlds later: the realm is another one, and has grown.
            try away.session.resume()
            try await LocalCluster.retrying("the one that was away has reset") {
                guard away.resets.value == 1 else { throw LocalClusterError("it has not") }
            }
            try await away.upload()
            try await away.download()
            try await connected.download()
            try expectEqual(away.ids(), ["new", "offline"])
            try expectEqual(connected.ids(), ["new", "offline"])
            try expectTrue(other.ids() == ["stays"] && other.resets.value == 0)
            try await LocalCluster.retrying("the campaign has all outcomes") {
                let campaign = try await cluster.operateJSON(
                    Campaign.self, "campaigns", "show", "erasure-of-\(cluster.app)")
                guard campaign.kind == "erasure", campaign.state == "closed", campaign.counts.found == 2,
                    campaign.counts.recovered == 2
                else { throw LocalClusterError("\(campaign)") }
            }
            try await expectTrue(cluster.operate("realms", "verify", "--app", cluster.app).contains("replay equal"))
        }

        @Test func aUserGoesWithItsOwnRealmAndAnAppWithEverything() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--rules", "own")
            var devices: [Device] = []
            for _ in 0..<2 {
                let user = try await Device.user(of: cluster)
                let device = try await Device(user: user, partition: user.id)
                try device.create("mine")
                try await device.upload()
                devices.append(device)
            }
            try await cluster.operate("users", "delete", cluster.app, devices[0].user.id, "--with-realm", "--yes")
            try await LocalCluster.retrying("what the user wrote is gone") {
                // The user's connection may have made an empty realm once more before it was cut.
                let left = try? await cluster.operate(
                    "realms", "export", "--app", cluster.app, "--realm", devices[0].user.id)
                guard left?.contains("mine") != true else { throw LocalClusterError("it is there") }
            }
            let other = try await cluster.operate(
                "realms", "export", "--app", cluster.app, "--realm", devices[1].user.id)
            expectTrue(other.contains("mine"))
            let text = try await cluster.operate("apps", "delete", cluster.app, "--yes", "--json")
            let deletion = try JSONDecoder().decode(Deletion.self, from: Data(text.utf8))
            expectTrue(deletion.finishedAt != nil && deletion.realms >= 1)
            try await expectTrue(!cluster.operate("realms", "list").contains(devices[1].user.id))
            await #expect(throws: LocalClusterError.self) {
                try await cluster.makeApp()
            }
            try devices[1].create("late")
            await #expect(throws: (any Error).self) { _ = try await Device.user(of: cluster) }
        }
    }
}
