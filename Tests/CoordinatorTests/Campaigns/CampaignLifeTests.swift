import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What becomes of a campaign, from its opening to its end.
@Suite(.hangGuard) struct CampaignLifeTests {
    @Test(arguments: ControlVariant.allCases)
    func terminatingRaisesTheGenerationAndRecordsTheCampaignOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let first = try await store.terminate(ControlVariant.request, enable: false, slices: 8)
            expectTrue(first.app.generation == 2 && first.app.syncState == .terminated)
            expectTrue(first.campaign.state == .publishing && first.campaign.generation == 2)
            let again = try await store.terminate(ControlVariant.request, enable: true, slices: 8)
            expectTrue(again.app == first.app && again.campaign == first.campaign)
            try await expectEqual(store.unpublishedCampaigns(), [first.campaign])
            try await expectEqual(store.campaignPublished("c1", at: 12).state, .counting)
            try await expectTrue(store.unpublishedCampaigns().isEmpty)
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.terminate(
                    CampaignRequest(id: "c2", app: "none", reason: nil, at: 1), enable: true, slices: 8)
            }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aCampaignGoesFromCountingToRunningToClosed(_ variant: ControlVariant) async throws {
        try await variant.withCampaign { store in
            var effects = try await store.apply([found([2, 3], slice: 0, chunk: 0, chunks: 2)], slices: 2, at: 20)
            expectTrue(effects.changed.first?.state == .counting && effects.changed.first?.slicesReported == 0)
            effects = try await store.apply([found([4], slice: 0, chunk: 1, chunks: 2)], slices: 2, at: 21)
            expectEqual(effects.changed.first?.slicesReported, 1)
            effects = try await store.apply([found([], slice: 1)], slices: 2, at: 22)
            expectEqual(effects.changed.first?.state, .running)
            _ = try await store.apply([notified(2), outcome(2, .recovered), outcome(3, .discarded)], slices: 2, at: 23)
            try await expectEqual(
                store.campaign("c1")?.counts, CampaignCounts(notified: 1, recovered: 1, discarded: 1, pending: 1))
            effects = try await store.apply([outcome(4, .manualPending)], slices: 2, at: 24)
            expectTrue(effects.changed.first?.state == .closed && effects.changed.first?.closedAt == 24)
            // Closed, but it stays updatable.
            effects = try await store.apply([outcome(4, .failed, at: 200)], slices: 2, at: 25)
            expectEqual(effects.changed.first?.closedAt, 24)
            try await expectEqual(store.campaign("c1")?.counts.failed, 1)
            try await expectEqual(
                store.campaign("c1")?.slices,
                [
                    CampaignSlice(slice: SliceNumber(0), chunks: 2, chunksReported: 2, found: 3),
                    CampaignSlice(slice: SliceNumber(1), chunks: 1, chunksReported: 1, found: 0),
                ])
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aFoundReportOfAnUnknownCampaignOpensItAndRaisesTheGeneration(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let effects = try await store.apply(
                [found([2], of: "shell", slice: 0, generation: 5), found([], of: "shell", slice: 1, generation: 6)],
                slices: 2, at: 30)
            expectEqual(effects.opened.map(\.id), ["shell"])
            expectEqual(effects.raisedApps, ["tasks"])
            try await expectEqual(store.app("tasks")?.generation, 6)
            let campaign = try #require(try await store.campaign("shell")?.campaign)
            expectTrue(campaign.state == .running && campaign.slicesExpected == 2 && campaign.generation == 6)
        }
    }

    /// The one realm of an app in flexible mode has no partition: what slices, gateways and clients say of it is of one client realm.
    @Test(arguments: ControlVariant.allCases)
    func reportsAboutAFlexibleRealmComeTogether(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let realm = RealmName(flexible: "tasks")
            try await store.insert(AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1))
            let reset = try await store.startReset(ControlVariant.request, partition: realm.partition, clientFile: 7)
            expectTrue(reset.partition?.isEmpty == true && reset.clientFile == 7)
            _ = try await store.campaignPublished("c1", at: 2)
            var ended = report(7, .recovered)
            ended.realm = realm
            _ = try await store.apply(
                [found([7], generation: 1, kind: "reset", partition: ""), notified(7, realm: realm), .outcome(ended)],
                slices: 2, at: 3)
            let campaign = try #require(try await store.campaign("c1"))
            expectTrue(
                campaign.counts == CampaignCounts(notified: 1, recovered: 1) && campaign.campaign.state == .closed)
            let key = ClientRealmKey(realm: realm, clientFile: 7)
            try await expectEqual(store.clientRealmHistory(key, limit: 9).map(\.campaign), ["c1"])
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func aResetExpectsOneSliceAndLeavesTheGeneration(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", generation: 4, createdAt: 1))
            let reset = try await store.startReset(ControlVariant.request, partition: "\"nw\"", clientFile: 7)
            expectTrue(reset.kind == .reset && reset.slicesExpected == 1 && reset.clientFile == 7)
            _ = try await store.campaignPublished("c1", at: 2)
            _ = try await store.apply([found([7], slice: 1, generation: 4, kind: "reset")], slices: 2, at: 3)
            try await expectEqual(store.campaign("c1")?.campaign.state, .running)
            try await expectEqual(store.app("tasks")?.generation, 4)
        }
    }

    @Test(arguments: ControlVariant.inMemory)
    func pagesOfCampaignsAndClientRealmsFollowOneAnother(_ variant: ControlVariant) async throws {
        try await variant.withCampaign(slices: 1) { store in
            try await store.insert(AppRecord(id: "other", createdAt: 1))
            for id in ["c2", "c3"] {
                _ = try await store.terminate(
                    CampaignRequest(id: id, app: "tasks", reason: nil, at: 30), enable: true, slices: 1)
            }
            _ = try await store.terminate(
                CampaignRequest(id: "o1", app: "other", reason: nil, at: 30), enable: true, slices: 1)
            try await expectEqual(
                store.campaigns(app: nil, after: nil, limit: 9).map(\.campaign.id),
                [
                    "o1", "c3", "c2", "c1",
                ])
            try await expectEqual(store.campaigns(app: "tasks", after: nil, limit: 2).map(\.campaign.id), ["c3", "c2"])
            try await expectEqual(store.campaigns(app: "tasks", after: "c2", limit: 2).map(\.campaign.id), ["c1"])
            // Nobody was found for it, so it is over.
            _ = try await store.campaignPublished("c3", at: 31)
            _ = try await store.apply([found([], of: "c3", generation: 4)], slices: 1, at: 32)
            try await expectEqual(
                store.campaigns(CampaignFilter(app: "tasks", isOpen: true), after: nil, limit: 9)
                    .map(\.campaign.id), ["c2", "c1"])
            try await expectEqual(
                store.campaigns(CampaignFilter(search: "C2"), after: nil, limit: 9).map(\.campaign.id), ["c2"])
            try await expectTrue(store.campaigns(CampaignFilter(search: "c_"), after: nil, limit: 9).isEmpty)

            _ = try await store.apply(
                [
                    found([2, 10], chunk: 0, chunks: 2, partition: "\"b\""),
                    found([3], chunk: 1, chunks: 2, partition: "\"a\""),
                ],
                slices: 1, at: 20)
            let first = try await store.clientRealms(campaign: "c1", outcome: nil, after: nil, limit: 2)
            expectEqual(first.map(\.clientFile), [3, 2])
            let rest = try await store.clientRealms(
                campaign: "c1", outcome: .pending, after: .init(partition: "\"b\"", clientFile: 2), limit: 2)
            expectEqual(rest.map(\.clientFile), [10])
            func of(_ filter: ClientRealmFilter, after: ClientRealmCursor? = nil) async throws -> [FileIdent] {
                try await store.clientRealms(campaign: "c1", filter, after: after, limit: 9).map(\.clientFile)
            }
            try await expectEqual(of(ClientRealmFilter(partition: "\"b\"")), [2, 10])
            let cursor = ClientRealmCursor(partition: "\"b\"", clientFile: 2)
            try await expectEqual(of(ClientRealmFilter(partition: "\"b\"", user: "u1"), after: cursor), [10])
            try await expectEqual(of(ClientRealmFilter(user: "u1")), [3, 2, 10])
            try await expectEqual(of(ClientRealmFilter(user: "u2")), [])
            try await expectEqual(of(ClientRealmFilter(outcome: .failed, partition: "\"b\"")), [])
        }
    }
}
