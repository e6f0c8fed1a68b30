import GRDB
import Storage
import SyncModel

extension CampaignRecord: SnakeCaseRow {
    static var databaseTableName: String { "campaigns" }
}

/// Campaigns as they are read; `SQLiteCampaigns` changes them.
struct SQLiteCampaignStore: CampaignStore, SQLiteControlPart {
    let database: any DatabaseWriter

    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await write("the campaigns") { try change(SQLiteCampaigns(db: $0)) }
    }

    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await read("the campaigns") { db in
            try CampaignRecord.fetchAll(
                db, sql: "SELECT * FROM campaigns WHERE state = 'publishing' ORDER BY number")
        }
    }

    func campaigns(
        _ filter: CampaignFilter, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary] {
        try await read("the campaigns") { db in
            try Self.summaries(
                of: CampaignRecord.fetchAll(
                    db,
                    sql: """
                        SELECT * FROM campaigns
                        WHERE (:app IS NULL OR app = :app) AND (kind = 'account') = :accounts
                          AND (NOT :open OR state <> 'closed')
                          AND (:after IS NULL OR number < (SELECT number FROM campaigns WHERE id = :after))
                        ORDER BY number DESC LIMIT :limit
                        """,
                    arguments: [
                        "app": filter.app, "accounts": filter.accounts, "open": filter.isOpen, "after": after,
                        "limit": max(limit, 0),
                    ]), db)
        }
    }

    func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        try await read("the campaigns") { db in
            try Self.summaries(
                of: CampaignRecord.fetchAll(
                    db,
                    sql: """
                        SELECT * FROM campaigns WHERE number IN
                            (SELECT MAX(number) FROM campaigns WHERE kind <> 'account' GROUP BY app)
                        ORDER BY app
                        """), db)
        }
    }

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await read("the campaign") { db in
            let campaigns = try CampaignRecord.fetchAll(
                db, sql: "SELECT * FROM campaigns WHERE id = ?", arguments: [id])
            var summary = try Self.summaries(of: campaigns, db).first
            summary?.slices = try Self.slices(of: id, db)
            return summary
        }
    }

    private static func slices(of campaign: String, _ db: Database) throws -> [CampaignSlice] {
        let found = try Row.fetchAll(
            db,
            sql: """
                SELECT slice, COUNT(*) AS found FROM campaign_realms
                WHERE campaign = ? AND slice IS NOT NULL GROUP BY slice
                """, arguments: [campaign]
        ).reduce(into: [Int: Int]()) { $0[$1["slice"]] = $1["found"] }
        // A slice that changed hands may have counted twice, in other chunks: the fuller count stands.
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT slice, chunks, COUNT(*) AS reported FROM campaign_chunks WHERE campaign = ?
                GROUP BY slice, chunks ORDER BY slice, COUNT(*) = chunks DESC, COUNT(*) DESC
                """, arguments: [campaign])
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

    private static func summaries(of campaigns: [CampaignRecord], _ db: Database) throws -> [CampaignSummary] {
        let counts = try SQLiteCampaigns(db: db).counts(of: Set(campaigns.map(\.id)))
        return campaigns.map { CampaignSummary(campaign: $0, counts: counts[$0.id] ?? CampaignCounts()) }
    }

    // MARK: Client realms

    /// Each page begins in the primary key where the one before ended: going through all of a campaign costs the same everywhere.
    func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        let place =
            filter.partition == nil
            ? "(partition, client_file) > (:partition, :file)" : "partition = :partition AND client_file > :file"
        return try await read("the campaign's client realms") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM campaign_realms
                    WHERE campaign = :campaign AND found_at IS NOT NULL AND (:outcome IS NULL OR outcome = :outcome)
                      AND (:user IS NULL OR user = :user) AND \(place)
                    ORDER BY partition, client_file LIMIT :limit
                    """,
                arguments: Self.arguments(campaign, filter, after, limit)
            ).map(CampaignClientRealm.init(row:))
        }
    }

    private static func arguments(
        _ campaign: String, _ filter: ClientRealmFilter, _ after: ClientRealmCursor?, _ limit: Int
    ) -> StatementArguments {
        [
            "campaign": campaign, "outcome": filter.outcome?.rawValue, "user": filter.user,
            "partition": filter.partition ?? after?.partition ?? "", "file": sqlInteger(after?.clientFile ?? 0),
            "limit": max(limit, 0),
        ]
    }

    func clientRealmHistory(
        _ key: ClientRealmKey, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await read("the client realm's campaigns") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT campaign_realms.* FROM campaign_realms JOIN campaigns ON campaigns.id = campaign
                    WHERE campaign_realms.app = ? AND campaign_realms.partition = ?
                      AND campaign_realms.client_file = ? AND found_at IS NOT NULL
                    ORDER BY campaigns.number DESC LIMIT ?
                    """, arguments: [key.realm.app, key.realm.partition, sqlInteger(key.clientFile), max(limit, 0)]
            ).map(CampaignClientRealm.init(row:))
        }
    }
}
