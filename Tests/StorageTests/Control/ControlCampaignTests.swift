import Coordinator
import Foundation
import GRDB
import SeededRandom
import Storage
import SyncModel
import Testing

@testable import StorageSQLite

@Suite(.timeLimit(.minutes(5))) struct ControlCampaignTests {
    private let request = CampaignRequest(id: "c1", app: "tasks", reason: "schema change", at: 10)

    /// A store with app `tasks` and the terminated campaign `c1`, published, expecting two slices.
    private func withCampaign(
        _ variant: ControlVariant, slices: Int = 2, _ body: (any ControlStore) async throws -> Void
    ) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            _ = try await store.terminate(request, enable: true, slices: slices)
            _ = try await store.campaignPublished("c1", at: 11)
            try await body(store)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func terminatingRaisesTheGenerationAndRecordsTheCampaignOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let first = try await store.terminate(request, enable: false, slices: 8)
            #expect(first.app.generation == 2 && first.app.syncState == .terminated)
            #expect(first.campaign.state == .publishing && first.campaign.generation == 2)
            let again = try await store.terminate(request, enable: true, slices: 8)
            #expect(again.app == first.app && again.campaign == first.campaign)
            #expect(try await store.unpublishedCampaigns() == [first.campaign])
            #expect(try await store.campaignPublished("c1", at: 12).state == .counting)
            #expect(try await store.unpublishedCampaigns().isEmpty)
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.terminate(
                    CampaignRequest(id: "c2", app: "none", reason: nil, at: 1), enable: true, slices: 8)
            }
            #expect(missing?.code == .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aCampaignGoesFromCountingToRunningToClosed(_ variant: ControlVariant) async throws {
        try await withCampaign(variant) { store in
            var effects = try await store.apply([found([2, 3], slice: 0, chunk: 0, chunks: 2)], slices: 2, at: 20)
            #expect(effects.changed.first?.state == .counting && effects.changed.first?.slicesReported == 0)
            effects = try await store.apply([found([4], slice: 0, chunk: 1, chunks: 2)], slices: 2, at: 21)
            #expect(effects.changed.first?.slicesReported == 1)
            effects = try await store.apply([found([], slice: 1)], slices: 2, at: 22)
            #expect(effects.changed.first?.state == .running)
            _ = try await store.apply([notified(2), outcome(2, .recovered), outcome(3, .discarded)], slices: 2, at: 23)
            #expect(
                try await store.campaign("c1")?.counts
                    == CampaignCounts(notified: 1, recovered: 1, discarded: 1, pending: 1))
            effects = try await store.apply([outcome(4, .manualPending)], slices: 2, at: 24)
            #expect(effects.changed.first?.state == .closed && effects.changed.first?.closedAt == 24)
            // Closed, but it stays updatable.
            effects = try await store.apply([outcome(4, .failed, at: 200)], slices: 2, at: 25)
            #expect(effects.changed.first?.closedAt == 24)
            #expect(try await store.campaign("c1")?.counts.failed == 1)
            #expect(
                try await store.campaignSlices("c1") == [
                    CampaignSlice(slice: SliceNumber(0), chunks: 2, chunksReported: 2, found: 3),
                    CampaignSlice(slice: SliceNumber(1), chunks: 1, chunksReported: 1, found: 0),
                ])
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func anyOrderAndAnyRepetitionEndInTheSameCounts(_ variant: ControlVariant) async throws {
        let reports = [
            found([2, 3], slice: 0), found([4], slice: 1), notified(2), notified(3), outcome(2, .recovered),
            outcome(3, .discarded, campaign: "c1", evidence: .inferred, confidence: 0.5), outcome(4, .interrupted),
            outcome(4, .failed, at: 300),
        ]
        var generator = SeededGenerator(seed: 0x51C3)
        for round in 0..<40 {
            try await withCampaign(variant) { store in
                var rest = (reports + reports.shuffled(using: &generator).prefix(4)).shuffled(using: &generator)
                while !rest.isEmpty {
                    let size = Int.random(in: 1...min(4, rest.count), using: &generator)
                    let effects = try await store.apply(Array(rest.prefix(size)), slices: 2, at: 50)
                    #expect(effects.rejected.isEmpty)
                    rest.removeFirst(size)
                    let counts = try #require(try await store.campaign("c1")?.counts)
                    #expect(counts.addsUp, "round \(round)")
                }
                let summary = try #require(try await store.campaign("c1"))
                #expect(
                    summary.counts == CampaignCounts(notified: 2, recovered: 1, discarded: 1, failed: 1),
                    "round \(round), seed 0x51C3")
                #expect(summary.campaign.state == .closed)
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
            try await withCampaign(variant) { store in
                _ = try await store.terminate(
                    CampaignRequest(id: "c2", app: "tasks", reason: nil, at: 30), enable: true, slices: 2)
                _ = try await store.campaignPublished("c2", at: 31)
                var rest = (reports + reports.shuffled(using: &generator).prefix(4)).shuffled(using: &generator)
                while !rest.isEmpty {
                    let size = Int.random(in: 1...min(4, rest.count), using: &generator)
                    #expect(try await store.apply(Array(rest.prefix(size)), slices: 2, at: 50).rejected.isEmpty)
                    rest.removeFirst(size)
                    for id in ["c1", "c2"] {
                        let counts = try #require(try await store.campaign(id)?.counts)
                        #expect(counts.addsUp, "round \(round)")
                    }
                }
                let first = try #require(try await store.campaign("c1"))
                let second = try #require(try await store.campaign("c2"))
                #expect(first.counts == CampaignCounts(notified: 3, superseded: 3), "round \(round), seed 0x51C4")
                #expect(
                    second.counts == CampaignCounts(notified: 2, recovered: 2, failed: 1, unproven: 1),
                    "round \(round), seed 0x51C4")
                #expect(first.campaign.state == .closed && second.campaign.state == .closed)
            }
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aReportOfHowAResetEndedCountsAlthoughItIsSuperseded(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            _ = try await store.apply([found([2, 3]), superseded(2, campaign: "c1", by: "c2")], slices: 1, at: 20)
            _ = try await store.apply([found([3], of: "c2", generation: 3)], slices: 1, at: 21)
            let realms = try await store.clientRealms(campaign: "c1", outcome: .superseded, after: nil, limit: 9)
            #expect(realms.map(\.clientFile) == [2, 3] && realms.allSatisfy { $0.supersededBy == "c2" })
            #expect(try await store.campaign("c1")?.campaign.state == .closed)
            // The first of them had finished, and says so itself; the other says it to the campaign that it resets for.
            _ = try await store.apply([outcome(2, .recovered), outcome(3, .recovered)], slices: 1, at: 22)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(recovered: 1, superseded: 1))
            #expect(try await store.campaign("c2")?.counts == CampaignCounts(recovered: 1))
            // What says nothing of the end changes nothing.
            _ = try await store.apply(
                [outcome(3, .interrupted, campaign: "c1"), superseded(2, campaign: "c1", by: "c2")], slices: 1, at: 23)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(recovered: 1, superseded: 1))
        }
    }

    @Test func aCampaignOfAnEarlierVersionIsGoneOnWith() async throws {
        try await withControlFolder { folder in
            try SQLiteControlSchema.makeVersion(
                3, file: "\(folder)/control.sqlite",
                with: """
                    INSERT INTO apps VALUES ('tasks', 'partition', 'enabled', 1, 1, 30, 2, 1, 1, 5, 'stockClients');
                    INSERT INTO campaigns (id, app, kind, started_at, generation, state, slices_expected, slices_reported)
                        VALUES ('c1', 'tasks', 'termination', 1, 2, 'running', 1, 1);
                    INSERT INTO campaign_chunks VALUES ('c1', 0, 1, 0);
                    INSERT INTO campaign_realms VALUES ('c1', '"nw"', 2, 'tasks', 'u1', 0, 5, 6, 7, 'pending', NULL, 8);
                    """)
            let store = try await SQLiteControlStore.open(folder: folder)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(notified: 1, pending: 1))
            _ = try await store.apply([found([2], of: "c2", generation: 3)], slices: 1, at: 20)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(notified: 1, superseded: 1))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func whatComesBeforeTheFoundReportWaitsForIt(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            let effects = try await store.apply(
                [notified(2, at: 70), outcome(3, .recovered), outcome(2, .discarded, campaign: "c1")], slices: 1, at: 20
            )
            #expect(effects.parked == 1)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts())
            #expect(try await store.clientRealms(campaign: "c1", outcome: nil, after: nil, limit: 9).isEmpty)
            _ = try await store.apply([found([2, 3])], slices: 1, at: 21)
            #expect(
                try await store.campaign("c1")?.counts == CampaignCounts(notified: 1, recovered: 1, discarded: 1))
            let realm = try #require(
                try await store.clientRealms(campaign: "c1", outcome: .discarded, after: nil, limit: 9).first)
            #expect(realm.clientFile == 2 && realm.notifiedAt == 70 && realm.foundAt == 21 && realm.lastSeen == 50)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aClientRealmThatNoSliceListedIsCountedOnceAllHaveReported(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            _ = try await store.apply([notified(9)], slices: 1, at: 20)
            #expect(try await store.campaign("c1")?.counts.found == 0)
            _ = try await store.apply([found([2])], slices: 1, at: 21)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(notified: 1, pending: 2))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aFoundReportOfAnUnknownCampaignOpensItAndRaisesTheGeneration(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let effects = try await store.apply(
                [found([2], of: "shell", slice: 0, generation: 5), found([], of: "shell", slice: 1, generation: 6)],
                slices: 2, at: 30)
            #expect(effects.opened.map(\.id) == ["shell"])
            #expect(effects.raisedApps == ["tasks"])
            #expect(try await store.app("tasks")?.generation == 6)
            let campaign = try #require(try await store.campaign("shell")?.campaign)
            #expect(campaign.state == .running && campaign.slicesExpected == 2 && campaign.generation == 6)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aResetExpectsOneSliceAndLeavesTheGeneration(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", generation: 4, createdAt: 1))
            let reset = try await store.startReset(request, partition: "\"nw\"", clientFile: 7)
            #expect(reset.kind == .reset && reset.slicesExpected == 1 && reset.clientFile == 7)
            _ = try await store.campaignPublished("c1", at: 2)
            _ = try await store.apply([found([7], slice: 1, generation: 4, kind: "reset")], slices: 2, at: 3)
            #expect(try await store.campaign("c1")?.campaign.state == .running)
            #expect(try await store.app("tasks")?.generation == 4)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func anOutcomeWithoutACampaignGoesToTheNewestThatListsTheClientRealm(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            _ = try await store.apply([found([2, 3])], slices: 1, at: 20)
            _ = try await store.terminate(
                CampaignRequest(id: "c2", app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
            _ = try await store.campaignPublished("c2", at: 31)
            _ = try await store.apply([found([2], of: "c2", generation: 3)], slices: 1, at: 32)
            _ = try await store.apply([outcome(2, .recovered), outcome(3, .discarded)], slices: 1, at: 33)
            #expect(try await store.campaign("c2")?.counts == CampaignCounts(recovered: 1))
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(discarded: 1, superseded: 1))
            let history = try await store.clientRealmHistory(
                app: "tasks", partition: "\"nw\"", clientFile: 2, limit: 9)
            #expect(history.map(\.campaign) == ["c2", "c1"])
            #expect(try await store.newestCampaigns().map(\.campaign.id) == ["c2"])
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aClientSpeaksForItsOwnClientRealmsOnly(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            // Before and after the slice has said whose client file it is.
            _ = try await store.apply(
                [outcome(2, .failed, user: "thief"), outcome(3, .failed, campaign: "c1", user: "thief")], slices: 1,
                at: 20)
            _ = try await store.apply([found([2, 3])], slices: 1, at: 21)
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(pending: 2))
            let effects = try await store.apply([outcome(2, .failed, user: "thief")], slices: 1, at: 22)
            #expect(effects.rejected.map(\.index) == [0])
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(pending: 2))
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func reportsThatCannotBeAreRejectedAndTheOthersApplied(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            let effects = try await store.apply(
                [
                    found([1], app: "none"), found([1], chunk: 3, chunks: 2), found([1], slice: -1),
                    found([1], kind: "party"), found([FileIdent(.max)]), found([1], of: ""),
                    outcome(FileIdent(.max), .recovered),
                    outcome(2, .recovered, confidence: .nan),
                    outcome(2, .recovered, attempt: String(repeating: "x", count: 999)),
                    outcome(2, .recovered, app: "none"), found([2]),
                ], slices: 1, at: 20)
            #expect(effects.rejected.map(\.index) == Array(0...9))
            #expect(try await store.campaign("c1")?.counts == CampaignCounts(pending: 1))
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func pagesOfCampaignsAndClientRealmsFollowOneAnother(_ variant: ControlVariant) async throws {
        try await withCampaign(variant, slices: 1) { store in
            try await store.insert(AppRecord(id: "other", createdAt: 1))
            for id in ["c2", "c3"] {
                _ = try await store.terminate(
                    CampaignRequest(id: id, app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
            }
            _ = try await store.terminate(
                CampaignRequest(id: "o1", app: "other", reason: nil, at: 30), enable: true, slices: 1)
            #expect(
                try await store.campaigns(app: nil, after: nil, limit: 9).map(\.campaign.id) == [
                    "o1", "c3", "c2", "c1",
                ])
            #expect(try await store.campaigns(app: "tasks", after: nil, limit: 2).map(\.campaign.id) == ["c3", "c2"])
            #expect(try await store.campaigns(app: "tasks", after: "c2", limit: 2).map(\.campaign.id) == ["c1"])

            _ = try await store.apply(
                [
                    found([2, 10], chunk: 0, chunks: 2, partition: "\"b\""),
                    found([3], chunk: 1, chunks: 2, partition: "\"a\""),
                ],
                slices: 1, at: 20)
            let first = try await store.clientRealms(campaign: "c1", outcome: nil, after: nil, limit: 2)
            #expect(first.map(\.clientFile) == [3, 2])
            let rest = try await store.clientRealms(
                campaign: "c1", outcome: .pending, after: .init(partition: "\"b\"", clientFile: 2), limit: 2)
            #expect(rest.map(\.clientFile) == [10])
        }
    }

    private func withSmallStore(
        _ variant: ControlVariant, _ change: (inout CampaignLimits) -> Void,
        _ body: (any ControlStore) async throws -> Void
    ) async throws {
        var limits = CampaignLimits()
        change(&limits)
        try await variant.withStore(limits: limits) { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await body(store)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func oldClosedCampaignsAreForgotten(_ variant: ControlVariant) async throws {
        try await withSmallStore(variant) {
            $0.closedCampaigns = 3
        } _: { store in
            for number in 1...9 {
                let id = "n\(number)"
                _ = try await store.terminate(
                    CampaignRequest(id: id, app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
                guard number > 1 else { continue }
                _ = try await store.campaignPublished(id, at: 31)
                _ = try await store.apply([found([2], of: id), outcome(2, .recovered)], slices: 1, at: 32)
            }
            // The one that was never published is not closed, so it stays.
            #expect(
                try await store.campaigns(app: "tasks", after: nil, limit: 99).map(\.campaign.id)
                    == ["n9", "n8", "n7", "n6", "n1"])
            #expect(try await store.clientRealms(campaign: "n2", outcome: nil, after: nil, limit: 9).isEmpty)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aReportAboutACampaignThatIsForgottenForANewOneHarmsNothing(_ variant: ControlVariant) async throws {
        try await withSmallStore(variant) {
            $0.closedCampaigns = 1
        } _: { store in
            for id in ["n1", "n2"] {
                _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 1)
            }
            _ = try await store.apply([outcome(2, .recovered, campaign: "n1")], slices: 1, at: 2)
            _ = try await store.apply([outcome(2, .recovered, campaign: "n2")], slices: 1, at: 3)
            let effects = try await store.apply(
                [notified(2, campaign: "n1"), found([3], of: "n3", kind: "reset"), outcome(3, .discarded)], slices: 1,
                at: 4)
            #expect(effects.rejected.isEmpty && effects.opened.map(\.id) == ["n3"])
            #expect(try await store.campaign("n3")?.counts.discarded == 1)
        }
    }

    @Test func aReportOfADamagedCampaignHoldsUpNobodyElses() async throws {
        let store = try await SQLiteControlStore.inMemory(limits: .init())
        try await store.insert(AppRecord(id: "tasks", createdAt: 1))
        for id in ["n1", "n2"] { _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 1) }
        try await store.write("the damage") { try $0.execute(sql: "UPDATE campaigns SET kind = '?' WHERE id = 'n1'") }
        let reports = ["n1", "n2"].map { outcome(2, .recovered, campaign: $0) }
        await #expect(throws: StoreError.self) { _ = try await store.apply(reports, slices: 1, at: 2) }
        let effects = try await store.applyWhatItCan(reports, slices: 1, at: 2)
        #expect(effects.rejected.map(\.index) == [0] && effects.changed.map(\.state) == [.closed])
        #expect(try await store.campaign("n2")?.counts.recovered == 1)
    }

    @Test(arguments: ControlVariant.inMemory)
    func resetsOfSingleRealmsDoNotPushTerminationsOut(_ variant: ControlVariant) async throws {
        try await withSmallStore(variant) {
            $0.closedCampaigns = 2
        } _: { store in
            _ = try await store.terminate(
                CampaignRequest(id: "t", app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
            _ = try await store.campaignPublished("t", at: 31)
            _ = try await store.apply([found([9], of: "t"), outcome(9, .recovered)], slices: 1, at: 32)
            for number in 1...5 {
                let id = "r\(number)"
                _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 33)
                _ = try await store.apply([outcome(2, .recovered, campaign: id)], slices: 1, at: 34)
            }
            #expect(
                try await store.campaigns(app: "tasks", after: nil, limit: 99).map(\.campaign.id)
                    == ["r5", "r4", "r3", "t"])
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func whatWaitsForAFoundReportIsBounded(_ variant: ControlVariant) async throws {
        try await withSmallStore(variant) {
            $0.parkedOutcomes = 20
            $0.earlyEntries = 5
        } _: { store in
            let effects = try await store.apply((1...30).map { outcome(FileIdent($0), .recovered) }, slices: 1, at: 1)
            #expect(effects.parked == 30 && effects.dropped == 10)
            _ = try await store.apply([found([10, 11], of: "late")], slices: 1, at: 2)
            #expect(try await store.campaign("late")?.counts == CampaignCounts(recovered: 1, pending: 1))

            let early = try await store.apply(
                (1...9).map { notified(FileIdent($0), campaign: "never") }, slices: 1, at: 3)
            #expect(early.dropped == 4)
        }
    }
}
