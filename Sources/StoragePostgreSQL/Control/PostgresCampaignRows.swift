import PostgreSQL
import Storage
import SyncModel

// Campaigns and what belongs to them as rows.

extension CampaignChanges.Chunk {
    static func put(_ chunks: [Self], _ pipeline: inout PostgresPipeline) {
        guard !chunks.isEmpty else { return }
        pipeline.add(
            """
            INSERT INTO campaign_chunks (campaign, slice, chunks, chunk)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) ON CONFLICT DO NOTHING
            """,
            [
                chunks.map(\.campaign).value, chunks.map(\.slice.value).value, chunks.map(\.chunks).value,
                chunks.map(\.chunk).value,
            ])
    }
}

extension CampaignEntry {
    private struct Place: Hashable {
        var campaign: String
        var key: ClientRealmKey
    }

    static func put(_ entries: [CampaignEntry], _ pipeline: inout PostgresPipeline) throws {
        // One statement cannot write a row twice: the last one counts.
        var latest: [Place: CampaignEntry] = [:]
        for entry in entries { latest[Place(campaign: entry.clientRealm.campaign, key: entry.key)] = entry }
        guard !latest.isEmpty else { return }
        let entries = Array(latest.values)
        let realms = entries.map(\.clientRealm)
        pipeline.add(
            """
            INSERT INTO campaign_realms (campaign, partition, client_file, app, "user", slice, last_seen, found_at,
                notified_at, outcome, report, updated_at, superseded_by, unproven, reason)
            SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
                $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::text[],
                $14::boolean[], $15::text[])
            ON CONFLICT (campaign, partition, client_file) DO UPDATE SET app = excluded.app, "user" = excluded."user",
                slice = excluded.slice, last_seen = excluded.last_seen, found_at = excluded.found_at,
                notified_at = excluded.notified_at, outcome = excluded.outcome, report = excluded.report,
                updated_at = excluded.updated_at, superseded_by = excluded.superseded_by,
                unproven = excluded.unproven, reason = excluded.reason
            """,
            [
                realms.map(\.campaign).value, realms.map(\.partition).value, realms.map(\.clientFile).value,
                entries.map(\.app).value, realms.map(\.user).value, entries.map { $0.slice?.value }.value,
                realms.map(\.lastSeen).value, realms.map(\.foundAt).value, realms.map(\.notifiedAt).value,
                realms.map(\.outcome.rawValue).value, try realms.map { try $0.report?.storedText() }.value,
                realms.map(\.updatedAt).value, realms.map(\.supersededBy).value, entries.map(\.isUnproven).value,
                realms.map(\.storedReason).value,
            ])
    }
}

extension CampaignCounts {
    /// One statement, so that the parts cannot disagree with their sum.
    static let query = """
        SELECT campaign, outcome, count(*) AS found, count(notified_at) AS notified,
            count(*) FILTER (WHERE unproven) AS unproven
        FROM campaign_realms WHERE campaign = ANY($1) AND found_at IS NOT NULL GROUP BY campaign, outcome
        """
}
