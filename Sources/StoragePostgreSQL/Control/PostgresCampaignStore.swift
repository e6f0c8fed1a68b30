import Foundation
import PostgreSQL
import Storage
import SyncModel

/// Campaigns as they are read; `PostgresCampaigns` changes them.
struct PostgresCampaignStore: CampaignStore {
    let database: PostgresControlDatabase

    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await database.change("the campaigns") { transaction in
            // What is decided rests on counts and on rows that are not there yet: one transaction at a time.
            try await transaction.lock(.campaigns)
            return try await onWaitingThread { try change(PostgresCampaigns(transaction: transaction)) }
        }
    }

    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await database.read("the campaigns") { queries in
            try await queries.rows("SELECT * FROM campaigns WHERE state = 'publishing' ORDER BY number")
                .map(CampaignRecord.init(row:))
        }
    }

    func campaigns(
        _ filter: CampaignFilter, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary] {
        try await database.snapshot("the campaigns") { queries in
            try await Self.summaries(
                queries.rows(
                    """
                    SELECT * FROM campaigns
                    WHERE ($1::text IS NULL OR app = $1) AND (kind = 'account') = $2
                      AND ($3::text IS NULL OR number < (SELECT number FROM campaigns WHERE id = $3))
                      AND (NOT $5 OR state <> 'closed')
                    ORDER BY number DESC LIMIT $4
                    """, filter.app, filter.accounts, after, max(limit, 0), filter.isOpen), queries)
        }
    }

    func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        try await database.snapshot("the campaigns") { queries in
            try await Self.summaries(
                queries.rows(
                    """
                    SELECT * FROM campaigns WHERE number IN
                        (SELECT max(number) FROM campaigns WHERE kind <> 'account' GROUP BY app)
                    ORDER BY app
                    """), queries)
        }
    }

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await database.snapshot("the campaign") { queries in
            let campaigns = try await queries.rows("SELECT * FROM campaigns WHERE id = $1", id)
            var summary = try await Self.summaries(campaigns, queries).first
            summary?.slices = try await Self.slices(of: id, queries)
            return summary
        }
    }

    private static func slices(of campaign: String, _ queries: ControlTransaction) async throws -> [CampaignSlice] {
        let found = try await queries.rows(
            """
            SELECT slice, count(*) AS found FROM campaign_realms
            WHERE campaign = $1 AND slice IS NOT NULL GROUP BY slice
            """, campaign
        ).reduce(into: [Int: Int]()) { $0[try $1.integer("slice")] = try $1.integer("found") }
        // A slice that changed hands may have counted twice, in other chunks: the fuller count stands.
        let rows = try await queries.rows(
            """
            SELECT DISTINCT ON (slice) slice, chunks, reported FROM
                (SELECT slice, chunks, count(*) AS reported FROM campaign_chunks WHERE campaign = $1
                 GROUP BY slice, chunks) AS counts
            ORDER BY slice, reported = chunks DESC, reported DESC
            """, campaign)
        return try rows.map { row in
            let slice = try row.integer("slice")
            return CampaignSlice(
                slice: SliceNumber(slice), chunks: try row.integer("chunks"),
                chunksReported: try row.integer("reported"), found: found[slice] ?? 0)
        }
    }

    private static func summaries(
        _ rows: [ControlRow], _ queries: ControlTransaction
    ) async throws -> [CampaignSummary] {
        let campaigns = try rows.map(CampaignRecord.init(row:))
        let counted = try await queries.rows(CampaignCounts.query, campaigns.map(\.id))
        let counts = try CampaignCounts.byCampaign(counted)
        return campaigns.map { CampaignSummary(campaign: $0, counts: counts[$0.id] ?? CampaignCounts()) }
    }

    // MARK: Client realms

    /// Each page begins in the primary key where the one before ended: going through all of a campaign costs the same everywhere.
    func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        let place =
            filter.partition == nil ? "(partition, client_file) > ($3, $4)" : "partition = $3 AND client_file > $4"
        return try await database.read("the campaign's client realms") { queries in
            try await queries.rows(
                """
                SELECT * FROM campaign_realms
                WHERE campaign = $1 AND found_at IS NOT NULL AND ($2::text IS NULL OR outcome = $2)
                  AND ($6::text IS NULL OR "user" = $6) AND \(place)
                ORDER BY partition, client_file LIMIT $5
                """, campaign, filter.outcome?.rawValue, filter.partition ?? after?.partition ?? "",
                after?.clientFile ?? 0, max(limit, 0), filter.user
            ).map(CampaignClientRealm.init(row:))
        }
    }

    func clientRealmHistory(
        _ key: ClientRealmKey, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await database.read("the client realm's campaigns") { queries in
            try await queries.rows(
                """
                SELECT campaign_realms.* FROM campaign_realms JOIN campaigns ON campaigns.id = campaign
                WHERE campaign_realms.app = $1 AND campaign_realms.partition = $2
                  AND campaign_realms.client_file = $3 AND found_at IS NOT NULL
                ORDER BY campaigns.number DESC LIMIT $4
                """, key.realm.app, key.realm.partition, key.clientFile, max(limit, 0)
            ).map(CampaignClientRealm.init(row:))
        }
    }
}

/// Runs what waits for the database with a thread of its own, apart from the cooperative ones.
private func onWaitingThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
