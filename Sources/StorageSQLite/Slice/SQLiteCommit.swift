import Foundation
import GRDB
import Storage

/// A batch on its way into a slice's file, within one transaction whose fence has been passed.
struct SQLiteCommit {
    let batch: SliceBatch
    let db: Database
    /// The bytes by which realms grow, summed up until the end.
    var growth = RealmGrowth()

    init(_ batch: SliceBatch, _ db: Database) {
        self.batch = batch
        self.db = db
    }

    /// Writes all of the batch. What goes, goes before what comes: a batch may hold both for one realm.
    mutating func run() throws {
        try terminate()
        try putReasons()
        try remove()
        try putErasures()
        try putRealms()
        try compact()
        try putObjects()
        try putIndexEntries()
        try append()
        try putDigests()
        try putClientFiles()
        try removeClientFiles()
        try putReciprocals()
        try putResetCases()
        try putResetHolds()
        try growth.save(db)
        try putUsage()
        try remember()
        try putOutbox()
        try dropReasons()
    }

    // MARK: Terminations and their reasons

    private func terminate() throws {
        let inSteps = Set(batch.terminationSteps.map(\.campaign))
        for record in batch.terminations {
            try db.run(
                "INSERT OR IGNORE INTO app_generations (app, generation, campaign, at) VALUES (?, ?, ?, ?)", record.app,
                record.generation.stored, record.campaign, record.at.stored)
            guard let campaign = record.campaign, !inSteps.contains(campaign) else { continue }
            let all = TerminationSteps(app: record.app, generation: record.generation, campaign: campaign)
            _ = try all.mark(limit: .max, db)
        }
        for steps in batch.terminationSteps { try steps.save(db) }
        for campaign in batch.terminationStepsDone {
            try db.run("DELETE FROM termination_steps WHERE campaign = ?", campaign)
        }
    }

    private func putReasons() throws {
        for (campaign, reason) in batch.reasons {
            try db.run("INSERT OR IGNORE INTO campaign_reasons (campaign, reason) VALUES (?, ?)", campaign, reason)
        }
    }

    /// Drops the reasons of campaigns that are over, now that there are new reasons.
    private func dropReasons() throws {
        guard !batch.reasons.isEmpty else { return }
        let campaigns = try String.fetchAll(
            db,
            sql: """
                SELECT campaign FROM campaign_reasons AS reasons
                WHERE NOT EXISTS (SELECT 1 FROM client_files
                        WHERE client_files.campaign = reasons.campaign AND state = 'resetRequired')
                    AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.campaign = reasons.campaign)
                    AND NOT EXISTS (SELECT 1 FROM app_generations AS latest
                        WHERE latest.campaign = reasons.campaign AND generation =
                            (SELECT max(generation) FROM app_generations WHERE app = latest.app))
                """)
        for campaign in campaigns where batch.reasons[campaign] == nil {
            try db.run("DELETE FROM campaign_reasons WHERE campaign = ?", campaign)
        }
    }

    // MARK: Usage

    private func putUsage() throws {
        for user in batch.usageRemovals {
            try db.run("DELETE FROM user_usage WHERE app = ? AND user = ?", user.app, user.user)
        }
        for (user, amounts) in batch.usage {
            let usage = try UserUsage.of(user, db) ?? UserUsage(at: batch.usageAt)
            try usage.adding(amounts, at: batch.usageAt).save(of: user, db)
        }
    }

    // MARK: Messages

    private func remember() throws {
        guard !batch.seenMessages.isEmpty else { return }
        for id in batch.seenMessages {
            try db.run("INSERT OR IGNORE INTO seen_messages (id) VALUES (?)", id)
        }
        try db.run(
            "DELETE FROM seen_messages WHERE number <= (SELECT max(number) FROM seen_messages) - ?",
            SliceBatch.rememberedMessages)
    }

    private func putOutbox() throws {
        for record in batch.outbox {
            try db.run("INSERT OR IGNORE INTO outbox (id, body) VALUES (?, ?)", record.id, Data(record.body))
        }
        for id in batch.outboxRemovals {
            try db.run("DELETE FROM outbox WHERE id = ?", id)
        }
    }
}
