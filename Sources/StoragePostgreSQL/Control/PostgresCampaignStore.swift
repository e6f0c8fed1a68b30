import Foundation
import PostgreSQL
import Storage
import SyncModel

/// Campaigns as they are read; `PostgresCampaigns` changes them.
protocol PostgresCampaignStore: PostgresControlPart {}

extension PostgresCampaignStore {
    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await database.change("the campaigns") { transaction in
            // What is decided rests on counts and on rows that are not there yet: one transaction at a time.
            try await transaction.lock(.campaigns)
            return try await onWaitingThread { try change(PostgresCampaigns(transaction: transaction)) }
        }
    }

    func summaries(_ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> [CampaignSummary] {
        try await database.snapshot("the campaigns") { queries in
            try await Self.summaries(
                of: PostgresControlRow.list(queries.answer(sql, PostgresValue.list(arguments))), queries)
        }
    }

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await database.snapshot("the campaign") { queries in
            let campaigns = try await queries.rows("SELECT * FROM campaigns WHERE id = $1", id)
            var summary = try await Self.summaries(of: campaigns, queries).first
            let found = try await queries.rows(
                """
                SELECT slice, count(*) AS found FROM campaign_realms
                WHERE campaign = $1 AND slice IS NOT NULL GROUP BY slice
                """, id)
            let reports = try await queries.rows(
                """
                SELECT DISTINCT ON (slice) slice, chunks, reported FROM
                    (SELECT slice, chunks, count(*) AS reported FROM campaign_chunks WHERE campaign = $1
                     GROUP BY slice, chunks) AS counts
                ORDER BY slice, reported = chunks DESC, reported DESC
                """, id)
            summary?.slices = try CampaignSlice.list(found: found, reports: reports)
            return summary
        }
    }

    private static func summaries(
        of rows: [any ControlRow], _ queries: ControlTransaction
    ) async throws -> [CampaignSummary] {
        let campaigns = try rows.map(CampaignRecord.init(row:))
        let counted = try await queries.rows(CampaignCounts.query, campaigns.map(\.id))
        let counts = try CampaignCounts.byCampaign(counted, of: campaigns.map(\.id))
        return campaigns.map { CampaignSummary(campaign: $0, counts: counts[$0.id] ?? CampaignCounts()) }
    }
}

/// Runs what waits for the database with a thread of its own, apart from the cooperative ones.
private func onWaitingThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
