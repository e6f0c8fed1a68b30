import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Reports that can never be applied.
@Suite(.hangGuard) struct RefusedReportTests {
    @Test(arguments: ControlVariant.inMemory)
    func aClientSpeaksForItsOwnClientRealmsOnly(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            // Before and after the slice has said whose client file it is.
            _ = try await store.apply(
                [outcome(2, .failed, user: "thief"), outcome(3, .failed, campaign: "c1", user: "thief")], slices: 1,
                at: 20)
            _ = try await store.apply([found([2, 3])], slices: 1, at: 21)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(pending: 2))
            let effects = try await store.apply([outcome(2, .failed, user: "thief")], slices: 1, at: 22)
            expectEqual(effects.rejected.map(\.index), [0])
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(pending: 2))
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func reportsThatCannotBeAreRejectedAndTheOthersApplied(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            let effects = try await store.apply(
                [
                    found([1], app: "none"), found([1], chunk: 3, chunks: 2), found([1], slice: -1),
                    found([1], kind: "party"), found([FileIdent(.max)]), found([1], of: ""),
                    outcome(FileIdent(.max), .recovered),
                    outcome(2, .recovered, confidence: .nan),
                    outcome(2, .recovered, attempt: String(repeating: "x", count: 999)),
                    outcome(2, .recovered, app: "none"), found([2]),
                ], slices: 1, at: 20)
            expectEqual(effects.rejected.map(\.index), Array(0...9))
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(pending: 1))
        }
    }
}
