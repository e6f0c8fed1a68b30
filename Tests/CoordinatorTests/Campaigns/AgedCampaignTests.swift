import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.hangGuard) struct AgedCampaignTests {
    @Test(arguments: ControlVariant.allCases)
    func accountsStandApartAndTellReasons(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            _ = try await store.apply([found([2], of: "real", kind: "reset")], slices: 1, at: 1)
            for ident in (3..<33 as Range<UInt64>).map({ FileIdent($0) }) {
                guard case .found(var report) = found([ident], of: "tasks.resets-2026-11-23", kind: "account") else {
                    continue
                }
                report.clientRealms[0].reason = "bad changeset \(ident)"
                _ = try await store.apply([.found(report), outcome(ident, .recovered)], slices: 4, at: 2)
            }
            try await expectEqual(store.campaigns(app: nil, after: nil, limit: 9).map(\.campaign.id), ["real"])
            let accounts = try await store.campaigns(CampaignFilter(app: "tasks", accounts: true), after: nil, limit: 9)
            expectEqual(accounts.map(\.campaign.id), ["tasks.resets-2026-11-23"])
            expectTrue(accounts[0].counts == CampaignCounts(recovered: 30) && accounts[0].campaign.state == .closed)
            try await expectEqual(store.newestCampaigns().map(\.campaign.id), ["real"])
            let realms = try await store.clientRealms(
                campaign: "tasks.resets-2026-11-23", outcome: nil, after: nil, limit: 1)
            expectEqual(realms.map(\.reason), ["bad changeset 3"])
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anOldCampaignIsClosedWithWhatItKnows(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            _ = try await store.apply([found([2, 3, 4, 5, 6], of: "old", kind: "reset")], slices: 1, at: 10)
            _ = try await store.apply([outcome(2, .recovered)], slices: 1, at: 11)
            // Not every slice has said whom it found.
            _ = try await store.apply([found([7], of: "half", kind: "termination")], slices: 4, at: 12)
            _ = try await store.apply([found([9], of: "young", kind: "reset")], slices: 1, at: 30)
            var closed: [String] = []
            var unknown = 0
            for _ in 0..<20 {
                let step = try await store.closeCampaigns(startedBefore: 20, limit: 3, at: 40)
                if step.closed.isEmpty, step.unknown.isEmpty { break }
                closed += step.closed.map(\.id)
                unknown += step.unknown["tasks"] ?? 0
            }
            expectTrue(closed == ["old", "half"] && unknown == 5)
            let old = try #require(try await store.campaign("old"))
            expectTrue(old.campaign.state == .closed && old.campaign.closedAt == 40)
            expectEqual(old.counts, CampaignCounts(recovered: 1, unknown: 4))
            try await expectEqual(store.campaign("half")?.counts, CampaignCounts(unknown: 1))
            try await expectEqual(store.campaign("young")?.campaign.state, .running)
            // What is said later still counts, and nothing is pending again.
            _ = try await store.apply([outcome(3, .discarded), notified(4, campaign: "old")], slices: 1, at: 50)
            let late = try #require(try await store.campaign("old"))
            expectEqual(late.counts, CampaignCounts(notified: 1, recovered: 1, discarded: 1, unknown: 3))
            expectEqual(late.campaign.state, .closed)
        }
    }
}
