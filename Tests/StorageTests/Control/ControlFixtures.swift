import Coordinator
import Foundation
import MemoryStorage
import Storage
import SyncModel

@testable import StorageSQLite

/// The stores that keep the contract of the control store.
enum ControlVariant: CaseIterable, Sendable {
    case sqliteFile, sqliteInMemory, dictionaries

    /// One of each engine, for what does not depend on files.
    static let inMemory: [ControlVariant] = [.sqliteInMemory, .dictionaries]

    func withStore(
        limits: CampaignLimits = CampaignLimits(), _ body: (any ControlStore) async throws -> Void
    ) async throws {
        switch self {
        case .dictionaries: try await body(MemoryControlStore(limits: limits))
        case .sqliteInMemory: try await body(try await SQLiteControlStore.inMemory(limits: limits))
        case .sqliteFile:
            try await withControlFolder { try await body(try await SQLiteStores(folder: $0).control()) }
        }
    }
}

func withControlFolder(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-control-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    try await body(url.path)
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

func notified(_ clientFile: FileIdent, campaign: String = "c1", at: UInt64 = 60) -> CampaignReport {
    .notified(
        NotifiedReport(
            campaign: campaign, realm: RealmName(app: "tasks", partition: "\"nw\""), clientFile: clientFile, at: at))
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
        found == recovered + discarded + manual + failed + superseded + pending && notified <= found
            && unproven <= recovered
    }
}
