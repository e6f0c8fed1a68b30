import GRDB
import Storage
import SyncModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tables of campaigns, within one transaction.
struct SQLiteCampaignRows: CampaignRows {
    let db: Database

    func app(_ id: String) throws -> AppRecord? { try SQLiteControlStore.app(id, db) }
    func put(_ app: AppRecord) throws { try SQLiteControlStore.save(app, db) }

    // MARK: Campaigns

    func campaign(_ id: String) throws -> CampaignRecord? { try SQLiteControlStore.campaign(id, db) }

    func put(_ campaign: CampaignRecord) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO campaigns (id, app, kind, reason, partition, client_file, started_at, generation, state,
                    slices_expected, slices_reported, closed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, state = excluded.state,
                    slices_reported = excluded.slices_reported, closed_at = excluded.closed_at
                """
        ).execute(arguments: [
            campaign.id, campaign.app, campaign.kind.rawValue, campaign.reason, campaign.partition,
            sqlInteger(campaign.clientFile), sqlInteger(campaign.startedAt), sqlInteger(campaign.generation),
            campaign.state.rawValue, campaign.slicesExpected, campaign.slicesReported, sqlInteger(campaign.closedAt),
        ])
    }

    func closedCampaigns(of app: String, _ kind: CampaignRecord.Kind, beyond newest: Int) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT id FROM campaigns WHERE app = ? AND kind = ? AND state = 'closed'
                ORDER BY number DESC LIMIT -1 OFFSET ?
                """, arguments: [app, kind.rawValue, newest])
    }

    func removeCampaign(_ id: String) throws {
        for table in ["campaign_realms", "campaign_chunks"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE campaign = ?", arguments: [id])
        }
        try db.execute(sql: "DELETE FROM campaigns WHERE id = ?", arguments: [id])
    }

    // MARK: Slices

    func noteChunk(_ chunk: Int, of chunks: Int, from slice: SliceNumber, campaign: String) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO campaign_chunks (campaign, slice, chunks, chunk) VALUES (?, ?, ?, ?)",
            arguments: [campaign, slice.value, chunks, chunk])
    }

    func slicesReported(to campaign: String) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT COUNT(DISTINCT slice) FROM (
                    SELECT slice FROM campaign_chunks WHERE campaign = ?
                    GROUP BY slice, chunks HAVING COUNT(*) = chunks)
                """, arguments: [campaign]) ?? 0
    }

    // MARK: Entries

    func entry(_ key: CampaignEntryKey) throws -> CampaignEntry? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM campaign_realms WHERE campaign = ? AND partition = ? AND client_file = ?")
        return try Row.fetchOne(
            statement, arguments: [key.campaign, key.partition, sqlInteger(key.clientFile)]
        ).map(CampaignEntry.init(row:))
    }

    func put(_ entry: CampaignEntry, _ key: CampaignEntryKey) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO campaign_realms (campaign, partition, client_file, app, user, slice, last_seen,
                    found_at, notified_at, outcome, report, updated_at, superseded_by, unproven)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            key.campaign, key.partition, sqlInteger(key.clientFile), entry.app, entry.user, entry.slice?.value,
            sqlInteger(entry.lastSeen), sqlInteger(entry.foundAt), sqlInteger(entry.notifiedAt),
            entry.outcome.rawValue, try entry.report?.storedText(), sqlInteger(entry.updatedAt), entry.supersededBy,
            entry.outcome == .recovered && entry.report?.isUnproven == true,
        ])
    }

    func entries(
        app: String, partition: String, clientFile: FileIdent
    ) throws -> [(campaign: String, generation: UInt64, entry: CampaignEntry)] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT campaign_realms.*, campaigns.generation AS generation FROM campaign_realms
                JOIN campaigns ON campaigns.id = campaign_realms.campaign
                WHERE campaign_realms.app = ? AND campaign_realms.partition = ? AND campaign_realms.client_file = ?
                ORDER BY campaigns.number DESC
                """)
        return try Row.fetchAll(statement, arguments: [app, partition, sqlInteger(clientFile)]).map { row in
            (campaign: row["campaign"], generation: row.unsigned("generation"), entry: try CampaignEntry(row: row))
        }
    }

    func markFound(_ campaign: String, at now: UInt64) throws {
        try db.execute(
            sql: "UPDATE campaign_realms SET found_at = ? WHERE campaign = ? AND found_at IS NULL",
            arguments: [sqlInteger(now), campaign])
    }

    func counts(of campaign: String) throws -> CampaignCounts { try SQLiteControlStore.counts(of: campaign, db) }

    func dropUnfound(beyond most: Int) throws -> Int {
        let excess =
            try Int.fetchOne(
                db, sql: "SELECT COUNT(*) - ? FROM campaign_realms WHERE found_at IS NULL", arguments: [most]) ?? 0
        guard excess > 0 else { return 0 }
        try db.execute(
            sql: """
                DELETE FROM campaign_realms WHERE (campaign, partition, client_file) IN
                    (SELECT campaign, partition, client_file FROM campaign_realms WHERE found_at IS NULL
                     ORDER BY updated_at LIMIT ?)
                """, arguments: [excess])
        return db.changesCount
    }

    // MARK: Parked outcomes

    func parkedOutcome(app: String, partition: String, clientFile: FileIdent) throws -> OutcomeReport? {
        let statement = try db.cachedStatement(
            sql: "SELECT report FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?")
        return try String.fetchOne(statement, arguments: [app, partition, sqlInteger(clientFile)])
            .map(OutcomeReport.init(storedText:))
    }

    func park(_ report: OutcomeReport) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO parked_outcomes (app, partition, client_file, report) VALUES (?, ?, ?, ?)
                """,
            arguments: [
                report.realm.app, report.realm.partition, sqlInteger(report.identOld), try report.storedText(),
            ])
    }

    func removeParkedOutcome(app: String, partition: String, clientFile: FileIdent) throws {
        try db.execute(
            sql: "DELETE FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?",
            arguments: [app, partition, sqlInteger(clientFile)])
    }

    func dropParkedOutcomes(beyond most: Int) throws -> Int {
        try db.execute(
            sql: """
                DELETE FROM parked_outcomes WHERE number <=
                    (SELECT number FROM parked_outcomes ORDER BY number DESC LIMIT 1 OFFSET ?)
                """, arguments: [most])
        return db.changesCount
    }
}

extension CampaignEntry {
    init(row: Row) throws {
        let text: String? = row["report"]
        let slice: Int? = row["slice"]
        self.init(
            app: row["app"], user: row["user"], slice: slice.map { SliceNumber($0) },
            lastSeen: row.unsigned("last_seen"), foundAt: row.unsignedIfAny("found_at"),
            notifiedAt: row.unsignedIfAny("notified_at"), supersededBy: row["superseded_by"],
            report: try text.map(OutcomeReport.init(storedText:)), updatedAt: row.unsigned("updated_at"))
    }
}

extension OutcomeReport {
    init(storedText: String) throws {
        self = try JSONDecoder().decode(OutcomeReport.self, from: Data(storedText.utf8))
    }

    /// What a client wrote is cut to a size that is worth keeping.
    func storedText() throws -> String {
        var report = self
        report.error = report.error.map {
            Failure(name: String($0.name.prefix(200)), message: String($0.message.prefix(2000)))
        }
        report.backupFile = report.backupFile.map { String($0.prefix(300)) }
        report.modeUsed = report.modeUsed.map { String($0.prefix(40)) }
        report.modeRequested = report.modeRequested.map { String($0.prefix(40)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}
