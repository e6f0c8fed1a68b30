import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What is forgotten, so that nothing grows for ever.
@Suite(.hangGuard) struct CampaignLimitsTests {
    @Test(arguments: ControlVariant.inMemory)
    func oldClosedCampaignsAreForgotten(_ variant: ControlVariant) async throws {
        var limits = CampaignLimits()
        limits.closedCampaigns = 3
        try await variant.withApp { store in
            for number in 1...9 {
                let id = "n\(number)"
                _ = try await store.terminate(
                    CampaignRequest(id: id, app: "tasks", reason: nil, at: 30), enable: true, slices: 1, limits: limits)
                guard number > 1 else { continue }
                _ = try await store.campaignPublished(id, at: 31)
                _ = try await store.apply(
                    [found([2], of: id), outcome(2, .recovered)], slices: 1, at: 32, limits: limits)
            }
            // The one that was never published is not closed, so it stays.
            try await expectEqual(
                store.campaigns(app: "tasks", after: nil, limit: 99).map(\.campaign.id), ["n9", "n8", "n7", "n6", "n1"])
            try await expectTrue(store.clientRealms(campaign: "n2", outcome: nil, after: nil, limit: 9).isEmpty)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aReportAboutACampaignThatIsForgottenForANewOneHarmsNothing(_ variant: ControlVariant) async throws {
        var limits = CampaignLimits()
        limits.closedCampaigns = 1
        try await variant.withApp { store in
            for id in ["n1", "n2"] {
                _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 1, limits: limits)
            }
            _ = try await store.apply([outcome(2, .recovered, campaign: "n1")], slices: 1, at: 2, limits: limits)
            _ = try await store.apply([outcome(2, .recovered, campaign: "n2")], slices: 1, at: 3, limits: limits)
            let effects = try await store.apply(
                [notified(2, campaign: "n1"), found([3], of: "n3", kind: "reset"), outcome(3, .discarded)], slices: 1,
                at: 4, limits: limits)
            expectTrue(effects.rejected.isEmpty && effects.opened.map(\.id) == ["n3"])
            try await expectEqual(store.campaign("n3")?.counts.discarded, 1)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func resetsOfSingleRealmsDoNotPushTerminationsOut(_ variant: ControlVariant) async throws {
        var limits = CampaignLimits()
        limits.closedCampaigns = 2
        try await variant.withApp { store in
            _ = try await store.terminate(
                CampaignRequest(id: "t", app: "tasks", reason: nil, at: 30), enable: true, slices: 1, limits: limits)
            _ = try await store.campaignPublished("t", at: 31)
            _ = try await store.apply([found([9], of: "t"), outcome(9, .recovered)], slices: 1, at: 32, limits: limits)
            for number in 1...5 {
                let id = "r\(number)"
                _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 33, limits: limits)
                _ = try await store.apply([outcome(2, .recovered, campaign: id)], slices: 1, at: 34, limits: limits)
            }
            try await expectEqual(
                store.campaigns(app: "tasks", after: nil, limit: 99).map(\.campaign.id), ["r5", "r4", "r3", "t"])
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func reportsWaitingForAFoundReportAreBounded(_ variant: ControlVariant) async throws {
        var limits = CampaignLimits()
        limits.parkedOutcomes = 20
        limits.earlyEntries = 5
        try await variant.withApp { store in
            let effects = try await store.apply(
                (1...30).map { outcome(FileIdent($0), .recovered) }, slices: 1, at: 1, limits: limits)
            expectTrue(effects.parked == 30 && effects.dropped == 10)
            _ = try await store.apply([found([10, 11], of: "late")], slices: 1, at: 2, limits: limits)
            try await expectEqual(store.campaign("late")?.counts, CampaignCounts(recovered: 1, pending: 1))

            let early = try await store.apply(
                (1...9).map { notified(FileIdent($0), campaign: "never") }, slices: 1, at: 3, limits: limits)
            expectEqual(early.dropped, 4)
        }
    }
}
