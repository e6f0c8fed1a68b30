import GRDB
import Storage
import SyncModel

/// The tables of campaigns, within one transaction. The connection is in this process, so a row costs no round trip.
struct SQLiteCampaigns: CampaignTransaction {
    let db: Database

    // MARK: Reading

    func read(_ lookup: CampaignLookup) throws -> CampaignFindings {
        var found = CampaignFindings()
        for id in lookup.apps { found.apps[id] = try AppRecord.stored(id, db) }
        let campaign = try db.cachedStatement(sql: "SELECT * FROM campaigns WHERE id = ?")
        for id in lookup.campaigns {
            let row = try Row.fetchOne(campaign, arguments: [id])
            if let row { try found.add(campaign: SQLiteControlRow(row: row)) }
        }
        for key in lookup.clientRealms {
            for row in try entries(of: key) { try found.add(entry: row) }
            found.parked[key] = try parked(key)
        }
        return found
    }

    private func entries(of key: ClientRealmKey) throws -> [any ControlRow] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT campaign_realms.*, campaigns.number, campaigns.generation
                FROM campaign_realms LEFT JOIN campaigns ON campaigns.id = campaign_realms.campaign
                WHERE campaign_realms.app = ? AND campaign_realms.partition = ? AND campaign_realms.client_file = ?
                """)
        return try Row.fetchAll(statement, arguments: Self.arguments(key)).map(SQLiteControlRow.init(row:))
    }

    private func parked(_ key: ClientRealmKey) throws -> OutcomeReport? {
        let statement = try db.cachedStatement(
            sql: "SELECT report FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?")
        return try String.fetchOne(statement, arguments: Self.arguments(key)).map(OutcomeReport.init(storedText:))
    }

    func slicesReported(to campaigns: Set<String>) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT campaign, COUNT(DISTINCT slice) AS slices FROM (
                    SELECT campaign, slice FROM campaign_chunks WHERE campaign IN \(Self.places(campaigns))
                    GROUP BY campaign, slice, chunks HAVING COUNT(*) = chunks)
                GROUP BY campaign
                """, arguments: StatementArguments(campaigns))
        return rows.reduce(into: [:]) { $0[$1["campaign"]] = $1["slices"] }
    }

    /// One statement, so that the parts cannot disagree with their sum.
    func counts(of campaigns: Set<String>) throws -> [String: CampaignCounts] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT campaign, outcome, COUNT(*) AS found, COUNT(notified_at) AS notified, SUM(unproven) AS unproven
                FROM campaign_realms WHERE campaign IN \(Self.places(campaigns)) AND found_at IS NOT NULL
                GROUP BY campaign, outcome
                """, arguments: StatementArguments(campaigns)
        ).map(SQLiteControlRow.init(row:))
        return try CampaignCounts.byCampaign(rows, of: campaigns)
    }

    // MARK: Writing

    func write(_ changes: CampaignChanges) throws {
        for app in changes.apps { try app.save(db) }
        for campaign in changes.campaigns { try db.run(CampaignRecord.putting, values: campaign.values) }
        for chunk in changes.chunks {
            try db.run(
                "INSERT OR IGNORE INTO campaign_chunks (campaign, slice, chunks, chunk) VALUES (?, ?, ?, ?)",
                chunk.campaign, chunk.slice.value, chunk.chunks, chunk.chunk)
        }
        for entry in changes.entries { try put(entry) }
        for entry in changes.audit { try db.note(entry, keeping: changes.auditKept) }
        for key in changes.unparked {
            try db.cachedStatement(
                sql: "DELETE FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?"
            ).execute(arguments: Self.arguments(key))
        }
        for report in changes.parked {
            let key = ClientRealmKey(realm: report.realm, clientFile: report.identOld)
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO parked_outcomes (app, partition, client_file, report) VALUES (?, ?, ?, ?)"
            ).execute(arguments: Self.arguments(key) + [try report.storedText()])
        }
    }

    private func put(_ entry: CampaignEntry) throws {
        let realm = entry.clientRealm
        try db.run(
            """
            INSERT OR REPLACE INTO campaign_realms (campaign, partition, client_file, app, user, slice, last_seen,
                found_at, notified_at, outcome, report, updated_at, superseded_by, unproven, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, realm.campaign, realm.partition, sqlInteger(realm.clientFile), entry.app, realm.user,
            entry.slice?.value,
            sqlInteger(realm.lastSeen), sqlInteger(realm.foundAt), sqlInteger(realm.notifiedAt),
            realm.outcome.rawValue, try realm.report?.storedText(), sqlInteger(realm.updatedAt), realm.supersededBy,
            entry.isUnproven, realm.storedReason)
    }

    func markFound(_ campaigns: Set<String>, at now: UInt64) throws {
        for campaign in campaigns {
            try db.run(
                "UPDATE campaign_realms SET found_at = ? WHERE campaign = ? AND found_at IS NULL", sqlInteger(now),
                campaign)
        }
    }

    func closable(startedBefore time: UInt64, limit: Int) throws -> [CampaignRecord] {
        try db.rows(
            """
            SELECT * FROM campaigns WHERE state IN ('counting', 'running') AND started_at < ? ORDER BY number LIMIT ?
            """, sqlInteger(time), limit
        ).map(CampaignRecord.init(row:))
    }

    func giveUpPending(of campaign: String, limit: Int, at now: UInt64) throws -> Int {
        try db.run(
            """
            UPDATE campaign_realms SET outcome = 'unknown', updated_at = ?
            WHERE (campaign, partition, client_file) IN
                (SELECT campaign, partition, client_file FROM campaign_realms
                 WHERE campaign = ? AND outcome = 'pending' AND found_at IS NOT NULL LIMIT ?)
            """, sqlInteger(now), campaign, limit)
        return db.changesCount
    }

    // MARK: Forgetting

    func removeClosedCampaigns(ofApp app: String, beyond newest: Int) throws {
        for kind in CampaignRecord.Kind.allCases {
            let old = try String.fetchAll(
                db,
                sql: """
                    SELECT id FROM campaigns WHERE app = ? AND kind = ? AND state = 'closed'
                    ORDER BY number DESC LIMIT -1 OFFSET ?
                    """, arguments: [app, kind.rawValue, newest])
            for id in old {
                for table in ["campaign_realms", "campaign_chunks"] {
                    try db.execute(sql: "DELETE FROM \(table) WHERE campaign = ?", arguments: [id])
                }
                try db.run("DELETE FROM campaigns WHERE id = ?", id)
            }
        }
    }

    func removeUnfound(beyond most: Int) throws -> Int {
        try db.run(
            """
            DELETE FROM campaign_realms WHERE (campaign, partition, client_file) IN
                (SELECT campaign, partition, client_file FROM campaign_realms WHERE found_at IS NULL
                 ORDER BY updated_at DESC LIMIT -1 OFFSET ?)
            """, most)
        return db.changesCount
    }

    func removeParked(beyond most: Int) throws -> Int {
        try db.run(
            """
            DELETE FROM parked_outcomes WHERE number <=
                (SELECT number FROM parked_outcomes ORDER BY number DESC LIMIT 1 OFFSET ?)
            """, most)
        return db.changesCount
    }

    // MARK: Arguments

    private static func arguments(_ key: ClientRealmKey) -> StatementArguments {
        [key.realm.app, key.realm.partition, sqlInteger(key.clientFile)]
    }

    private static func places(_ values: Set<String>) -> String { "(\(databaseQuestionMarks(count: values.count)))" }
}
