import PostgreSQL
import Storage
import SyncModel

/// The part of a commit about campaigns: the generations of apps, the steps of terminations, and why clients have to reset.
enum CampaignStatements {
    static func terminate(_ batch: SliceBatch, _ statements: inout SliceStatements) {
        let inSteps = Set(batch.terminationSteps.map(\.campaign))
        for record in batch.terminations {
            statements.add(
                """
                INSERT INTO app_generations (slice, app, generation, campaign, at) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (slice, app, generation) DO NOTHING
                """, .string(record.app), .int(record.generation.stored), .string(record.campaign),
                .int(record.at.stored))
            guard let campaign = record.campaign, !inSteps.contains(campaign) else { continue }
            statements.add(
                """
                UPDATE client_files f SET state = 'resetRequired', campaign = $4 FROM realms r
                WHERE r.slice = $1 AND r.app = $2 AND f.slice = $1 AND f.realm = r.id AND f.generation < $3
                    AND f.state IN ('live', 'resetRequired')
                """, .string(record.app), .int(record.generation.stored), .string(campaign))
        }
        for steps in batch.terminationSteps { statements.add(steps) }
        if !batch.terminationStepsDone.isEmpty {
            statements.add(
                "DELETE FROM termination_steps WHERE slice = $1 AND campaign = ANY($2)",
                .strings(batch.terminationStepsDone))
        }
    }

    static func putReasons(_ reasons: [String: String], _ statements: inout SliceStatements) {
        guard !reasons.isEmpty else { return }
        let reasons = Array(reasons)
        statements.add(
            """
            INSERT INTO campaign_reasons (slice, campaign, reason) SELECT $1, q.campaign, q.reason
            FROM unnest($2, $3) AS q (campaign, reason) ON CONFLICT (slice, campaign) DO NOTHING
            """, .strings(reasons.map(\.key)), .strings(reasons.map(\.value)))
    }

    /// Drops the reasons of campaigns that are over, now that there are new reasons.
    static func dropReasons(but new: [String: String], _ statements: inout SliceStatements) {
        guard !new.isEmpty else { return }
        statements.add(
            """
            DELETE FROM campaign_reasons c WHERE c.slice = $1 AND c.campaign <> ALL($2)
                AND NOT EXISTS (SELECT 1 FROM client_files f
                    WHERE f.slice = $1 AND f.campaign = c.campaign AND f.state = 'resetRequired')
                AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.slice = $1 AND e.campaign = c.campaign)
                AND NOT EXISTS (SELECT 1 FROM app_generations g
                    WHERE g.slice = $1 AND g.campaign = c.campaign AND g.generation =
                        (SELECT max(l.generation) FROM app_generations l WHERE l.slice = $1 AND l.app = g.app))
            """, .strings(Array(new.keys)))
    }
}
