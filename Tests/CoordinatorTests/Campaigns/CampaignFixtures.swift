import Storage
import StorageSupport
import SyncModel
import Testing

@testable import Coordinator

extension ControlVariant {
    static let request = CampaignRequest(id: "c1", app: "tasks", reason: "schema change", at: 10)

    /// A store with app `tasks`.
    func withApp(_ body: (any ControlStore) async throws -> Void) async throws {
        try await withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await body(store)
        }
    }

    /// A store with app `tasks` and the terminated campaign `c1`, published, expecting so many slices.
    func withCampaign(slices: Int = 2, _ body: (any ControlStore) async throws -> Void) async throws {
        try await withApp { store in
            _ = try await store.terminate(Self.request, enable: true, slices: slices)
            _ = try await store.campaignPublished("c1", at: 11)
            try await body(store)
        }
    }
}

func found(
    _ clientFiles: [FileIdent], of campaign: String = "c1", slice: Int = 0, chunk: Int = 0, chunks: Int = 1,
    generation: UInt64 = 2,
    kind: String = "termination", app: String = "tasks", user: String = "u1",
    partition: String = "\"nw\""
) -> CampaignReport {
    .found(
        FoundReport(
            kind: kind, campaign: campaign, app: app, slice: SliceNumber(slice), generation: generation, reason: nil,
            chunk: chunk, chunks: chunks,
            clientRealms: clientFiles.map {
                .init(partition: partition, clientFile: $0, user: user, lastSeen: 50)
            }))
}

func notified(
    _ clientFile: FileIdent, campaign: String = "c1", at: UInt64 = 60,
    realm: RealmName = RealmName(app: "tasks", partition: "\"nw\"")
) -> CampaignReport {
    .notified(
        NotifiedReport(
            campaign: campaign, realm: realm, clientFile: clientFile, at: at))
}

func report(
    _ clientFile: FileIdent, _ result: OutcomeReport.Result, campaign: String? = nil,
    evidence: OutcomeReport.Evidence = .client, confidence: Double = 1, at: UInt64 = 100, attempt: String = "a1",
    user: String = "u1", app: String = "tasks"
) -> OutcomeReport {
    OutcomeReport(
        campaign: campaign, attempt: attempt, realm: RealmName(app: app, partition: "\"nw\""), user: user,
        identOld: clientFile, identNew: nil, modeRequested: nil, modeUsed: nil, result: result, changesets: nil,
        backupFile: nil, error: nil, evidence: evidence, confidence: confidence, at: at)
}

/// A slice's word that another campaign has the client realm reset once more.
func superseded(_ clientFile: FileIdent, campaign: String, by other: String) -> CampaignReport {
    var report = report(clientFile, .interrupted, campaign: campaign, evidence: .inferred)
    report.supersededBy = other
    return .outcome(report)
}

func outcome(
    _ clientFile: FileIdent, _ result: OutcomeReport.Result, campaign: String? = nil,
    evidence: OutcomeReport.Evidence = .client, confidence: Double = 1, at: UInt64 = 100, attempt: String = "a1",
    user: String = "u1", app: String = "tasks"
) -> CampaignReport {
    .outcome(
        report(
            clientFile, result, campaign: campaign, evidence: evidence, confidence: confidence, at: at,
            attempt: attempt, user: user, app: app))
}

extension CampaignCounts {
    var addsUp: Bool {
        found == recovered + discarded + manual + failed + superseded + unknown + pending && notified <= found
            && unproven <= recovered
    }
}
