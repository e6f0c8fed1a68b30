import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// `sluice campaigns show --json`.
struct ResetCampaign: Decodable {
    struct Counts: Decodable {
        var found, notified, recovered, discarded, manual, failed, superseded, pending: Int
        var addsUp: Bool { found == recovered + discarded + manual + failed + superseded + pending }
    }
    var counts: Counts
}

/// `sluice sync terminate --json`.
struct Termination: Decodable { var campaign: String }

extension SharedClusterTests {
    /// Client resets that the operator asks for.
    @Suite struct ResetTests {
        @Test func withRecoveryOffOnlyTheModeThatMayDiscardGoesOn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster, mode: "recoverOrDiscard")
            try device.create("synced")
            try await device.upload()
            try await device.suspend()
            try device.create("unsynced")
            try await cluster.operate("apps", "set", cluster.app, "--no-client-recovery")
            let termination = try await cluster.operateJSON(
                Termination.self, "sync", "terminate", cluster.app, "--yes", "--enable")
            try device.session.resume()
            try await LocalCluster.retrying("the reset has discarded") {
                let campaign = try await cluster.operateJSON(
                    ResetCampaign.self, "campaigns", "show", termination.campaign)
                guard campaign.counts.discarded == 1 else { throw LocalClusterError("\(campaign.counts)") }
            }
            try expectEqual(device.ids(), ["synced"])
        }

        @Test func oneClientRealmCanBeResetFromTheShell() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            let bystander = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            // The first ident of a realm is 2; the server is 1.
            try await cluster.operate(
                "publish", "reset", "--yes", "--app", cluster.app, "--partition", Device.partition, "--client-file", "2"
            )
            try await LocalCluster.retrying("the client realm has reset") {
                guard device.resets.value == 1 else { throw LocalClusterError("\(device.resets.value) resets") }
            }
            expectEqual(bystander.resets.value, 0)
            try device.create("b")
            try await device.upload()
            try await bystander.download()
            try expectEqual(bystander.ids(), ["a", "b"])
        }
    }
}

extension ShakenClusterTests {
    /// A termination whose coordinator dies.
    @Suite struct TerminationTests {
        @Test func aTerminationIsAccountedEvenIfTheCoordinatorDiesAtOnce() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let keeping = try await Device(cluster)
            let dropping = try await Device(cluster, mode: "discard")
            try keeping.create("synced")
            try await keeping.upload()
            try await dropping.download()
            try await keeping.suspend()
            try await dropping.suspend()
            try keeping.create("kept")
            try dropping.create("dropped")
            let termination = try await cluster.operateJSON(
                Termination.self, "sync", "terminate", cluster.app, "--yes", "--enable")
            await cluster.kill("coordinator")
            try await cluster.startCoordinator()
            // Until the termination is published the devices would go on as if nothing had happened.
            try await LocalCluster.retrying("both client realms are found") {
                let campaign = try await cluster.operateJSON(
                    ResetCampaign.self, "campaigns", "show", termination.campaign)
                guard campaign.counts.found == 2 else { throw LocalClusterError("it stands at \(campaign.counts)") }
            }
            try keeping.session.resume()
            try dropping.session.resume()
            let counts = try await LocalCluster.retrying("the campaign is complete") {
                let campaign = try await cluster.operateJSON(
                    ResetCampaign.self, "campaigns", "show", termination.campaign)
                expectTrue(campaign.counts.addsUp)
                guard campaign.counts.found == 2, campaign.counts.pending == 0 else {
                    throw LocalClusterError("it stands at \(campaign.counts)")
                }
                return campaign.counts
            }
            expectEqual(counts.recovered, 1)
            expectEqual(counts.discarded, 1)
            try await keeping.upload()
            try await dropping.download()
            try expectEqual(dropping.ids(), ["synced", "kept"])
            try expectEqual(keeping.ids(), ["synced", "kept"])
            expectEqual(keeping.resets.value, 1)
            expectEqual(dropping.resets.value, 1)
        }
    }
}
