import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Several campaigns want one client realm to reset.
@Suite(.hangGuard) struct SupersededResetTests {
    @Test(arguments: ControlVariant.inMemory)
    func aReportOfHowAResetEndedCountsAlthoughItIsSuperseded(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            _ = try await store.apply([found([2, 3]), superseded(2, campaign: "c1", by: "c2")], slices: 1, at: 20)
            _ = try await store.apply([found([3], of: "c2", generation: 3)], slices: 1, at: 21)
            let realms = try await store.clientRealms(campaign: "c1", outcome: .superseded, after: nil, limit: 9)
            expectTrue(realms.map(\.clientFile) == [2, 3] && realms.allSatisfy { $0.supersededBy == "c2" })
            try await expectEqual(store.campaign("c1")?.campaign.state, .closed)
            // The first of them had finished, and says so itself; the other says it to the campaign that it resets for.
            _ = try await store.apply([outcome(2, .recovered), outcome(3, .recovered)], slices: 1, at: 22)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(recovered: 1, superseded: 1))
            try await expectEqual(store.campaign("c2")?.counts, CampaignCounts(recovered: 1))
            // What says nothing of the end changes nothing.
            _ = try await store.apply(
                [outcome(3, .interrupted, campaign: "c1"), superseded(2, campaign: "c1", by: "c2")], slices: 1, at: 23)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(recovered: 1, superseded: 1))
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func anOutcomeWithoutACampaignGoesToTheNewestThatListsTheClientRealm(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            _ = try await store.apply([found([2, 3])], slices: 1, at: 20)
            _ = try await store.terminate(
                CampaignRequest(id: "c2", app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
            _ = try await store.campaignPublished("c2", at: 31)
            _ = try await store.apply([found([2], of: "c2", generation: 3)], slices: 1, at: 32)
            _ = try await store.apply([outcome(2, .recovered), outcome(3, .discarded)], slices: 1, at: 33)
            try await expectEqual(store.campaign("c2")?.counts, CampaignCounts(recovered: 1))
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(discarded: 1, superseded: 1))
            let history = try await store.clientRealmHistory(
                ClientRealmKey(realm: RealmName(app: "tasks", partition: "\"nw\""), clientFile: 2), limit: 9)
            expectEqual(history.map(\.campaign), ["c2", "c1"])
            try await expectEqual(store.newestCampaigns().map(\.campaign.id), ["c2"])
        }
    }
}
