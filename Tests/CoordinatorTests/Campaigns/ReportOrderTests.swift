import SeededRandom
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Reports come in any order and any number of times, and end in the same counts.
@Suite(.hangGuard) struct ReportOrderTests {
    @Test(arguments: ControlVariant.inMemory)
    func anyOrderAndAnyRepetitionEndInTheSameCounts(_ variant: ControlVariant) async throws {
        let reports = [
            found([2, 3], slice: 0), found([4], slice: 1), notified(2), notified(3), outcome(2, .recovered),
            outcome(3, .discarded, campaign: "c1", evidence: .inferred, confidence: 0.5), outcome(4, .interrupted),
            outcome(4, .failed, at: 300),
        ]
        var generator = SeededGenerator(seed: 0x51C3)
        for round in 0..<40 {
            try await variant.withCampaign { store in
                var rest = (reports + reports.shuffled(using: &generator).prefix(4)).shuffled(using: &generator)
                while !rest.isEmpty {
                    let size = Int.random(in: 1...min(4, rest.count), using: &generator)
                    let effects = try await store.apply(Array(rest.prefix(size)), slices: 2, at: 50)
                    expectTrue(effects.rejected.isEmpty)
                    rest.removeFirst(size)
                    let counts = try #require(try await store.campaign("c1")?.counts)
                    expectTrue(counts.addsUp, "round \(round)")
                }
                let summary = try #require(try await store.campaign("c1"))
                expectEqual(
                    summary.counts, CampaignCounts(notified: 2, recovered: 1, discarded: 1, failed: 1),
                    "round \(round), seed 0x51C3")
                expectEqual(summary.campaign.state, .closed)
            }
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func overlappingCampaignsEndInTheSameCountsInAnyOrder(_ variant: ControlVariant) async throws {
        let reports = [
            // The second termination takes 2 and 3 over, and finds 4, which 5 went on as.
            found([2, 3], slice: 0), found([5], slice: 1), notified(2), notified(3), notified(5),
            found([2, 3], of: "c2", slice: 0, generation: 3), found([4], of: "c2", slice: 1, generation: 3),
            notified(2, campaign: "c2"), notified(4, campaign: "c2"), superseded(5, campaign: "c1", by: "c2"),
            outcome(2, .recovered, campaign: "c2", evidence: .inferred, confidence: 0.9),
            outcome(3, .failed, campaign: "c2", evidence: .inferred, confidence: 0.9),
            outcome(4, .notNeeded, campaign: "c2", evidence: .inferred, confidence: 0.5),
        ]
        var generator = SeededGenerator(seed: 0x51C4)
        for round in 0..<40 {
            try await variant.withCampaign { store in
                _ = try await store.terminate(
                    CampaignRequest(id: "c2", app: "tasks", reason: nil, at: 30), enable: true, slices: 2)
                _ = try await store.campaignPublished("c2", at: 31)
                var rest = (reports + reports.shuffled(using: &generator).prefix(4)).shuffled(using: &generator)
                while !rest.isEmpty {
                    let size = Int.random(in: 1...min(4, rest.count), using: &generator)
                    try await expectTrue(store.apply(Array(rest.prefix(size)), slices: 2, at: 50).rejected.isEmpty)
                    rest.removeFirst(size)
                    for id in ["c1", "c2"] {
                        let counts = try #require(try await store.campaign(id)?.counts)
                        expectTrue(counts.addsUp, "round \(round)")
                    }
                }
                let first = try #require(try await store.campaign("c1"))
                let second = try #require(try await store.campaign("c2"))
                expectEqual(first.counts, CampaignCounts(notified: 3, superseded: 3), "round \(round), seed 0x51C4")
                expectEqual(
                    second.counts, CampaignCounts(notified: 2, recovered: 2, failed: 1, unproven: 1),
                    "round \(round), seed 0x51C4")
                expectTrue(first.campaign.state == .closed && second.campaign.state == .closed)
            }
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func reportsBeforeTheFoundReportWaitForIt(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            let effects = try await store.apply(
                [notified(2, at: 70), outcome(3, .recovered), outcome(2, .discarded, campaign: "c1")], slices: 1, at: 20
            )
            expectEqual(effects.parked, 1)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts())
            try await expectTrue(store.clientRealms(campaign: "c1", outcome: nil, after: nil, limit: 9).isEmpty)
            _ = try await store.apply([found([2, 3])], slices: 1, at: 21)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(notified: 1, recovered: 1, discarded: 1))
            let realm = try #require(
                try await store.clientRealms(campaign: "c1", outcome: .discarded, after: nil, limit: 9).first)
            expectTrue(realm.clientFile == 2 && realm.notifiedAt == 70 && realm.foundAt == 21 && realm.lastSeen == 50)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aClientRealmThatNoSliceListedIsCountedOnceAllHaveReported(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            _ = try await store.apply([notified(9)], slices: 1, at: 20)
            try await expectEqual(store.campaign("c1")?.counts.found, 0)
            _ = try await store.apply([found([2])], slices: 1, at: 21)
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(notified: 1, pending: 2))
        }
    }
}
