import GRDB
import Storage

/// Campaigns as they are read; `SQLiteCampaigns` changes them.
protocol SQLiteCampaignStore: SQLiteControlPart {}

extension SQLiteCampaignStore {
    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await write("the campaigns") { try change(SQLiteCampaigns(db: $0)) }
    }

    func summaries(_ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> [CampaignSummary] {
        try await read("the campaigns") { try Self.summaries(of: $0.rows(sql, values: arguments), $0) }
    }

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await read("the campaign") { db in
            var summary = try Self.summaries(of: db.rows("SELECT * FROM campaigns WHERE id = ?", id), db).first
            summary?.slices = try CampaignSlice.list(
                found: db.rows(
                    """
                    SELECT slice, COUNT(*) AS found FROM campaign_realms
                    WHERE campaign = ? AND slice IS NOT NULL GROUP BY slice
                    """, id),
                reports: db.rows(
                    """
                    SELECT slice, chunks, COUNT(*) AS reported FROM campaign_chunks WHERE campaign = ?
                    GROUP BY slice, chunks ORDER BY slice, COUNT(*) = chunks DESC, COUNT(*) DESC
                    """, id))
            return summary
        }
    }

    private static func summaries(of rows: [any ControlRow], _ db: Database) throws -> [CampaignSummary] {
        let campaigns = try rows.map(CampaignRecord.init(row:))
        let counts = try SQLiteCampaigns(db: db).counts(of: Set(campaigns.map(\.id)))
        return campaigns.map { CampaignSummary(campaign: $0, counts: counts[$0.id] ?? CampaignCounts()) }
    }
}
