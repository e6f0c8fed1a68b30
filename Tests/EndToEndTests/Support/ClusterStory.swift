import DeviceSync
import LocalCluster
import TestSupport
import Testing

extension LocalCluster {
    /// What a cluster is for, in brief: two devices sync, a worker dies, and a termination is accounted for, with one device that brings
    /// its changes back and one that drops them.
    ///
    /// - Parameter restart: starts worker-1 again, which was killed.
    func liveThroughADeathAndATermination(restart: () async throws -> Void) async throws {
        try await makeApp()
        let one = try await Device(self)
        let other = try await Device(self, mode: "discard")
        for number in 0..<20 { try one.create("before \(number)") }
        try await one.upload()
        try await other.download()
        try expectEqual(other.ids().count, 20)

        // Another worker goes on with what was committed, whoever owned the realm's slice.
        await kill("worker-1")
        try other.create("meanwhile")
        try await other.upload()
        try await one.download()
        try expectTrue(one.ids().contains("meanwhile"))
        try await restart()

        try await one.suspend()
        try await other.suspend()
        try one.create("kept")
        try other.create("dropped")
        let termination = try await operateJSON(
            Termination.self, "sync", "terminate", app, "--yes", "--enable")
        try await LocalCluster.retrying("both client realms are found") {
            let campaign = try await operateJSON(
                ResetCampaign.self, "campaigns", "show", termination.campaign)
            guard campaign.counts.found == 2 else { throw LocalClusterError("it stands at \(campaign.counts)") }
        }
        try one.session.resume()
        try other.session.resume()
        let counts = try await LocalCluster.retrying("the campaign is complete") {
            let campaign = try await operateJSON(
                ResetCampaign.self, "campaigns", "show", termination.campaign)
            guard campaign.counts.addsUp, campaign.counts.pending == 0 else {
                throw LocalClusterError("it stands at \(campaign.counts)")
            }
            return campaign.counts
        }
        expectTrue(counts.found == 2 && counts.recovered == 1 && counts.discarded == 1)
        try await one.upload()
        try await other.download()
        try expectEqual(one.ids(), other.ids())
        try expectTrue(one.ids().contains("kept") && !one.ids().contains("dropped"))
        _ = try await operate("realms", "verify", "--app", app)
    }
}
