import PostgreSQL
import Storage
import SyncModel

// Campaigns and what belongs to them as rows.

extension CampaignRecord {
    init(row: ControlRow) throws {
        let (kind, state) = (try row.text("kind"), try row.text("state"))
        guard let kind = Kind(rawValue: kind), let state = State(rawValue: state) else {
            throw StoreError(
                .corrupt, "a campaign is stored as a \(kind.prefix(40)), \(state.prefix(40)), which no version knows")
        }
        self.init(
            id: try row.text("id"), app: try row.text("app"), kind: kind, reason: try row.textIfAny("reason"),
            partition: try row.textIfAny("partition"),
            clientFile: try row.unsignedIfAny("client_file").map { FileIdent($0) },
            startedAt: try row.unsigned("started_at"), generation: try row.unsigned("generation"), state: state,
            slicesExpected: try row.integer("slices_expected"), slicesReported: try row.integer("slices_reported"),
            closedAt: try row.unsignedIfAny("closed_at"))
    }

    func put(_ pipeline: inout PostgresPipeline) {
        pipeline.add(
            """
            INSERT INTO campaigns (id, app, kind, reason, partition, client_file, started_at, generation, state,
                slices_expected, slices_reported, closed_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, state = excluded.state,
                slices_reported = excluded.slices_reported, closed_at = excluded.closed_at
            """,
            PostgresValue.list([
                id, app, kind.rawValue, reason, partition, clientFile, startedAt, generation, state.rawValue,
                slicesExpected, slicesReported, closedAt,
            ]))
    }
}

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

    init(row: ControlRow) throws {
        self.init(
            app: try row.text("app"), slice: try row.integerIfAny("slice").map { SliceNumber($0) },
            clientRealm: try CampaignClientRealm(row: row))
        isUnproven = try row.boolean("unproven")
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
                realms.map { $0.reason.map { String($0.prefix(CampaignClientRealm.maxReason)) } }.value,
            ])
    }
}

extension CampaignClientRealm {
    init(row: ControlRow) throws {
        self.init(
            campaign: try row.text("campaign"), partition: try row.text("partition"),
            clientFile: FileIdent(try row.unsigned("client_file")), user: try row.text("user"),
            lastSeen: try row.unsigned("last_seen"), foundAt: try row.unsignedIfAny("found_at"),
            notifiedAt: try row.unsignedIfAny("notified_at"),
            outcome: OutcomeClass(rawValue: try row.text("outcome")) ?? .pending,
            supersededBy: try row.textIfAny("superseded_by"), reason: try row.textIfAny("reason"),
            report: try row.textIfAny("report").map(OutcomeReport.init(storedText:)),
            updatedAt: try row.unsigned("updated_at"))
    }
}

extension CampaignCounts {
    /// One statement, so that the parts cannot disagree with their sum.
    static let query = """
        SELECT campaign, outcome, count(*) AS found, count(notified_at) AS notified,
            count(*) FILTER (WHERE unproven) AS unproven
        FROM campaign_realms WHERE campaign = ANY($1) AND found_at IS NOT NULL GROUP BY campaign, outcome
        """

    static func byCampaign(_ rows: [ControlRow]) throws -> [String: CampaignCounts] {
        try rows.reduce(into: [:]) { counts, row in
            counts[try row.text("campaign"), default: CampaignCounts()].add(
                try row.integer("found"), OutcomeClass(rawValue: try row.text("outcome")) ?? .pending,
                notified: try row.integer("notified"), unproven: try row.integer("unproven"))
        }
    }
}
