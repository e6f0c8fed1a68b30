import GRDB
import Storage
import SyncModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteControlStore {
    func campaigns(
        app: String?, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary] {
        try await read("the campaigns") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM campaigns
                    WHERE (:app IS NULL OR app = :app)
                      AND (:after IS NULL OR number < (SELECT number FROM campaigns WHERE id = :after))
                    ORDER BY number DESC LIMIT :limit
                    """, arguments: ["app": app, "after": after, "limit": max(limit, 0)]
            ).map { try Self.summary(of: CampaignRecord(row: $0), db) }
        }
    }

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await read("the campaign") { db in
            try Self.campaign(id, db).map { try Self.summary(of: $0, db) }
        }
    }

    func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        try await read("the campaigns") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM campaigns WHERE number IN (SELECT MAX(number) FROM campaigns GROUP BY app)
                    ORDER BY app
                    """
            ).map { try Self.summary(of: CampaignRecord(row: $0), db) }
        }
    }

    func campaignSlices(_ id: String) async throws(StoreError) -> [CampaignSlice] {
        try await read("the campaign's slices") { db in
            let found = try Row.fetchAll(
                db,
                sql: """
                    SELECT slice, COUNT(*) AS found FROM campaign_realms
                    WHERE campaign = ? AND slice IS NOT NULL GROUP BY slice
                    """, arguments: [id]
            ).reduce(into: [Int: Int]()) { $0[$1["slice"]] = $1["found"] }
            // A slice that changed hands may have counted twice, in other chunks: the fuller count stands.
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT slice, chunks, COUNT(*) AS reported FROM campaign_chunks WHERE campaign = ?
                    GROUP BY slice, chunks ORDER BY slice, COUNT(*) = chunks DESC, COUNT(*) DESC
                    """, arguments: [id])
            var result: [CampaignSlice] = []
            for row in rows where result.last?.slice.value != row["slice"] as Int {
                let slice: Int = row["slice"]
                result.append(
                    CampaignSlice(
                        slice: SliceNumber(slice), chunks: row["chunks"], chunksReported: row["reported"],
                        found: found[slice] ?? 0))
            }
            return result
        }
    }

    func clientRealms(
        campaign: String, outcome: OutcomeClass?, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await read("the campaign's client realms") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM campaign_realms
                    WHERE campaign = :campaign AND found_at IS NOT NULL AND (:outcome IS NULL OR outcome = :outcome)
                      AND (:partition IS NULL OR (partition, client_file) > (:partition, :file))
                    ORDER BY partition, client_file LIMIT :limit
                    """,
                arguments: [
                    "campaign": campaign, "outcome": outcome?.rawValue, "partition": after?.partition,
                    "file": sqlInteger(after?.clientFile), "limit": max(limit, 0),
                ]
            ).map(CampaignClientRealm.init)
        }
    }

    func clientRealmHistory(
        app: String, partition: String, clientFile: FileIdent, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await read("the client realm's campaigns") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT campaign_realms.* FROM campaign_realms JOIN campaigns ON campaigns.id = campaign
                    WHERE campaign_realms.app = ? AND campaign_realms.partition = ?
                      AND campaign_realms.client_file = ? AND found_at IS NOT NULL
                    ORDER BY campaigns.number DESC LIMIT ?
                    """, arguments: [app, partition, sqlInteger(clientFile), max(limit, 0)]
            ).map(CampaignClientRealm.init)
        }
    }

    private static func summary(of campaign: CampaignRecord, _ db: Database) throws -> CampaignSummary {
        CampaignSummary(campaign: campaign, counts: try counts(of: campaign.id, db))
    }

    /// One statement, so that the parts cannot disagree with their sum.
    static func counts(of campaign: String, _ db: Database) throws -> CampaignCounts {
        var number: [OutcomeClass: Int] = [:]
        var notified = 0
        var unproven = 0
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT outcome, COUNT(*) AS found, COUNT(notified_at) AS notified, SUM(unproven) AS unproven
                FROM campaign_realms
                WHERE campaign = ? AND found_at IS NOT NULL GROUP BY outcome
                """, arguments: [campaign])
        for row in rows {
            number[OutcomeClass(rawValue: row["outcome"]) ?? .pending, default: 0] += row["found"] as Int
            notified += row["notified"] as Int
            unproven += row["unproven"] as Int
        }
        return CampaignCounts(
            notified: notified, recovered: number[.recovered] ?? 0, discarded: number[.discarded] ?? 0,
            manual: number[.manual] ?? 0, failed: number[.failed] ?? 0, superseded: number[.superseded] ?? 0,
            pending: number[.pending] ?? 0, unproven: unproven)
    }
}

extension CampaignClientRealm {
    init(row: Row) throws {
        let report: String? = row["report"]
        self.init(
            campaign: row["campaign"], app: row["app"], partition: row["partition"],
            clientFile: FileIdent(row.unsigned("client_file")), user: row["user"], lastSeen: row.unsigned("last_seen"),
            foundAt: row.unsigned("found_at"), notifiedAt: row.unsignedIfAny("notified_at"),
            outcome: OutcomeClass(rawValue: row["outcome"]) ?? .pending, supersededBy: row["superseded_by"],
            report: try report.map { try JSONDecoder().decode(OutcomeReport.self, from: Data($0.utf8)) },
            updatedAt: row.unsigned("updated_at"))
    }
}
