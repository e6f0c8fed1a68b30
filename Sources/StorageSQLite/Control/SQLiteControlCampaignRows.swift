import GRDB
import Messages
import Storage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct CampaignRowKey {
    var campaign: String
    var partition: String
    var clientFile: UInt64
}

struct CampaignRow {
    var app: String
    var user: String
    var slice: Int?
    var lastSeen: UInt64 = 0
    var foundAt: UInt64?
    var notifiedAt: UInt64?
    var supersededBy: String?
    var report: OutcomeReport?

    /// A report of how the reset ended counts even if it comes late: that another campaign followed says only that none may
    /// come.
    var outcome: OutcomeClass {
        let reported = report.map { OutcomeClass($0.result) } ?? .pending
        return reported == .pending && supersededBy != nil ? .superseded : reported
    }

    mutating func consider(_ new: OutcomeReport) {
        if let other = new.supersededBy {
            supersededBy = supersededBy ?? other
            return
        }
        if let report, !new.supersedes(report) { return }
        report = new
    }
}

extension CampaignApplication {
    func fetch(_ key: CampaignRowKey) throws -> CampaignRow? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM campaign_realms WHERE campaign = ? AND partition = ? AND client_file = ?")
        guard
            let row = try Row.fetchOne(
                statement, arguments: [key.campaign, key.partition, sqlInteger(key.clientFile)])
        else { return nil }
        let text: String? = row["report"]
        return CampaignRow(
            app: row["app"], user: row["user"], slice: row["slice"], lastSeen: row.unsigned("last_seen"),
            foundAt: row.unsignedIfAny("found_at"), notifiedAt: row.unsignedIfAny("notified_at"),
            supersededBy: row["superseded_by"],
            report: try text.map(OutcomeReport.init(storedText:)))
    }

    func save(_ row: CampaignRow, _ key: CampaignRowKey) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO campaign_realms (campaign, partition, client_file, app, user, slice, last_seen,
                    found_at, notified_at, outcome, report, updated_at, superseded_by, unproven)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            key.campaign, key.partition, sqlInteger(key.clientFile), row.app, row.user, row.slice,
            sqlInteger(row.lastSeen), sqlInteger(row.foundAt), sqlInteger(row.notifiedAt), row.outcome.rawValue,
            try row.report?.storedText(), sqlInteger(now), row.supersededBy,
            row.outcome == .recovered && row.report?.isUnproven == true,
        ])
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
        return String(decoding: try JSONEncoder.message.encode(report), as: UTF8.self)
    }
}
