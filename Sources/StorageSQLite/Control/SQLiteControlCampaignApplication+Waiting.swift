import GRDB
import Messages
import Storage

extension CampaignApplication {
    mutating func park(_ report: OutcomeReport) throws {
        effects.parked += 1
        let waiting = try parked(app: report.realm.app, report.realm.partition, report.identOld)
        if let waiting, !report.supersedes(waiting) { return }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO parked_outcomes (app, partition, client_file, report) VALUES (?, ?, ?, ?)
                """,
            arguments: [
                report.realm.app, report.realm.partition, sqlInteger(report.identOld), try report.storedText(),
            ])
    }

    func takeParked(app: String, _ key: CampaignRowKey) throws -> OutcomeReport? {
        guard let report = try parked(app: app, key.partition, key.clientFile) else { return nil }
        try db.execute(
            sql: "DELETE FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?",
            arguments: [app, key.partition, sqlInteger(key.clientFile)])
        return report
    }

    func parked(app: String, _ partition: String, _ clientFile: UInt64) throws -> OutcomeReport? {
        let statement = try db.cachedStatement(
            sql: "SELECT report FROM parked_outcomes WHERE app = ? AND partition = ? AND client_file = ?")
        return try String.fetchOne(statement, arguments: [app, partition, sqlInteger(clientFile)])
            .map(OutcomeReport.init(storedText:))
    }

    mutating func dropParked() throws {
        try db.execute(
            sql: """
                DELETE FROM parked_outcomes WHERE number <=
                    (SELECT number FROM parked_outcomes ORDER BY number DESC LIMIT 1 OFFSET ?)
                """, arguments: [limits.parkedOutcomes])
        effects.dropped += db.changesCount
    }

    mutating func dropEarlyRows() throws {
        let excess =
            try Int.fetchOne(
                db, sql: "SELECT COUNT(*) - ? FROM campaign_realms WHERE found_at IS NULL",
                arguments: [limits.earlyRows]) ?? 0
        guard excess > 0 else { return }
        try db.execute(
            sql: """
                DELETE FROM campaign_realms WHERE (campaign, partition, client_file) IN
                    (SELECT campaign, partition, client_file FROM campaign_realms WHERE found_at IS NULL
                     ORDER BY updated_at LIMIT ?)
                """, arguments: [excess])
        effects.dropped += db.changesCount
    }
}
