import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import StorageSQLite

/// The rows of campaigns: what is written is found again. What they mean, the coordinator's tests say.
@Suite(.hangGuard) struct ControlCampaignTests {
    private static let clientRealm = ClientRealmKey(
        realm: RealmName(app: "tasks", partition: "\"nw\""), clientFile: 2)

    private func campaign(_ id: String, _ kind: CampaignRecord.Kind = .reset) -> CampaignRecord {
        CampaignRecord(
            id: id, app: "tasks", kind: kind, reason: nil, startedAt: 1, generation: 2, state: .closed,
            slicesExpected: 1)
    }

    private func entry(_ campaign: String, foundAt: UInt64? = 5, updatedAt: UInt64 = 6) -> CampaignEntry {
        CampaignEntry(
            app: "tasks", slice: SliceNumber(3),
            clientRealm: CampaignClientRealm(
                campaign: campaign, partition: "\"nw\"", clientFile: 2, user: "u", foundAt: foundAt,
                updatedAt: updatedAt))
    }

    @Test(arguments: ControlVariant.allCases)
    func theAuditLogHearsOfWhatIsWrittenAndOfNothingElse(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            func audit(_ campaigns: [String], keeping most: Int, failing: Bool = false) async throws {
                try await store.changeCampaigns { transaction in
                    var changes = CampaignChanges()
                    changes.audit = campaigns.map {
                        AuditEntry(
                            at: 5, token: "queue", role: .operate, method: "PUBLISH", path: "/x", details: $0,
                            status: 200)
                    }
                    changes.auditKept = most
                    try transaction.write(changes)
                    if failing { throw StoreError(.notFound, "no such app") }
                }
            }
            func details() async throws -> [String?] {
                try await store.auditEntries(before: nil, limit: 10).map(\.details)
            }
            try await audit(["c1", "c2"], keeping: 3)
            try await expectEqual(details(), ["c2", "c1"])
            await #expect(throws: StoreError.self) { try await audit(["c3"], keeping: 3, failing: true) }
            try await expectEqual(details(), ["c2", "c1"])
            try await audit(["c4", "c5"], keeping: 3)
            // At most as many as asked for: what was undone has left a gap in PostgreSQL's numbers.
            let kept = try await details()
            expectTrue(kept.count >= 2)
            expectEqual(kept, Array(["c5", "c4", "c2"].prefix(kept.count)))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func oneCallFindsAllThatAnotherHasWritten(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let entries = [entry("c1"), entry("c2"), entry("never recorded", foundAt: nil)]
            let parked = OutcomeReport(
                campaign: nil, attempt: "a", realm: Self.clientRealm.realm, user: "u", identOld: 2, identNew: nil,
                modeRequested: nil, modeUsed: nil, result: .recovered, changesets: nil, backupFile: nil, error: nil,
                evidence: .client, confidence: 1, at: 9)
            try await store.changeCampaigns { [campaigns = [campaign("c1"), campaign("c2")]] transaction in
                var changes = CampaignChanges()
                changes.apps = [AppRecord(id: "tasks", generation: 2, createdAt: 1)]
                changes.campaigns = campaigns
                changes.chunks = [
                    .init(campaign: "c1", slice: SliceNumber(3), chunks: 2, chunk: 0),
                    .init(campaign: "c1", slice: SliceNumber(3), chunks: 2, chunk: 1),
                    .init(campaign: "c1", slice: SliceNumber(4), chunks: 2, chunk: 0),
                ]
                changes.entries = entries
                changes.parked = [parked]
                try transaction.write(changes)
            }
            try await store.changeCampaigns { transaction in
                var lookup = CampaignLookup()
                lookup.apps = ["tasks", "none"]
                lookup.campaigns = ["c1", "c2", "none"]
                lookup.clientRealms = [Self.clientRealm]
                let found = try transaction.read(lookup)
                expectEqual(found.apps.mapValues(\.generation), ["tasks": 2])
                expectEqual(Set(found.campaigns.keys), ["c1", "c2"])
                let (first, second) = (found.standings["c1"]?.number ?? 0, found.standings["c2"]?.number ?? 0)
                expectTrue(first < second)
                let listed = try #require(found.entries[Self.clientRealm])
                expectTrue(listed.count == 3 && entries.allSatisfy(listed.contains))
                expectTrue(found.standings["never recorded"] == nil && found.standings["c1"]?.generation == 2)
                expectEqual(found.parked, [Self.clientRealm: parked])
                try expectEqual(transaction.slicesReported(to: ["c1", "c2"]), ["c1": 1])
                try expectEqual(
                    transaction.counts(of: ["c1", "none"]),
                    [
                        "c1": CampaignCounts(pending: 1), "none": CampaignCounts(),
                    ])
                try transaction.removeClosedCampaigns(ofApp: "tasks", beyond: 1)
                var changes = CampaignChanges()
                changes.unparked = [Self.clientRealm]
                try transaction.write(changes)
                let rest = try transaction.read(lookup)
                expectTrue(Set(rest.campaigns.keys) == ["c2"] && rest.parked.isEmpty)
                try expectEqual(transaction.removeUnfound(beyond: 0), 1)
                try expectEqual(transaction.read(lookup).entries[Self.clientRealm]?.count, 1)
            }
        }
    }

    @Test func aCampaignOfAnEarlierVersionIsReadAndChanged() async throws {
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
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(notified: 1, pending: 1))
            try await store.changeCampaigns { transaction in
                var lookup = CampaignLookup()
                lookup.clientRealms = [Self.clientRealm]
                var entry = try #require(try transaction.read(lookup).entries[Self.clientRealm]?.first)
                entry.clientRealm.outcome = .superseded
                var changes = CampaignChanges()
                changes.entries = [entry]
                try transaction.write(changes)
            }
            try await expectEqual(store.campaign("c1")?.counts, CampaignCounts(notified: 1, superseded: 1))
        }
    }
}
