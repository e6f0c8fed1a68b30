import Dispatch
import PostgreSQL
import Storage
import SyncModel
import Synchronization

/// The tables of campaigns, within one transaction. Each call is one round trip or two, however much it reads or writes.
///
/// A call blocks until the database has answered: the thread that makes it must be one that may wait.
struct PostgresCampaigns: CampaignTransaction {
    let transaction: ControlTransaction

    // MARK: Reading

    func read(_ lookup: CampaignLookup) throws -> CampaignFindings {
        let keys = KeyColumns(lookup.clientRealms)
        var pipeline = PostgresPipeline()
        // In one order, so that two transactions do not wait for each other.
        pipeline.add("SELECT * FROM apps WHERE id = ANY($1) ORDER BY id FOR UPDATE", [lookup.apps.sorted().value])
        pipeline.add("SELECT * FROM campaigns WHERE id = ANY($1)", [Array(lookup.campaigns).value])
        pipeline.add(
            """
            SELECT campaign_realms.*, campaigns.number, campaigns.generation
            FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (app, partition, client_file)
            JOIN campaign_realms USING (app, partition, client_file)
            LEFT JOIN campaigns ON campaigns.id = campaign_realms.campaign
            """, keys.values)
        pipeline.add(
            """
            SELECT app, partition, client_file, report
            FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (app, partition, client_file)
            JOIN parked_outcomes USING (app, partition, client_file)
            """, keys.values)
        let answer = try run(pipeline)
        var found = CampaignFindings()
        for row in PostgresControlRow.list(answer[0]) {
            let app = try AppRecord(row: row)
            found.apps[app.id] = app
        }
        for row in PostgresControlRow.list(answer[1]) { try found.add(campaign: row) }
        for row in PostgresControlRow.list(answer[2]) { try found.add(entry: row) }
        for row in PostgresControlRow.list(answer[3]) {
            let realm = RealmName(app: try row.text("app"), partition: try row.text("partition"))
            let key = ClientRealmKey(realm: realm, clientFile: FileIdent(try row.unsigned("client_file")))
            found.parked[key] = try OutcomeReport(storedText: try row.text("report"))
        }
        return found
    }

    func slicesReported(to campaigns: Set<String>) throws -> [String: Int] {
        let rows = try rows(
            """
            SELECT campaign, count(DISTINCT slice) AS slices FROM
                (SELECT campaign, slice FROM campaign_chunks WHERE campaign = ANY($1)
                 GROUP BY campaign, slice, chunks HAVING count(*) = chunks) AS complete
            GROUP BY campaign
            """, Array(campaigns))
        return try rows.reduce(into: [:]) { $0[try $1.text("campaign")] = try $1.integer("slices") }
    }

    func counts(of campaigns: Set<String>) throws -> [String: CampaignCounts] {
        try CampaignCounts.byCampaign(try rows(CampaignCounts.query, Array(campaigns)), of: campaigns)
    }

    func closable(startedBefore time: UInt64, limit: Int) throws -> [CampaignRecord] {
        try rows(
            """
            SELECT * FROM campaigns WHERE state IN ('counting', 'running') AND started_at < $1 ORDER BY number LIMIT $2
            """, time, limit
        ).map(CampaignRecord.init(row:))
    }

    // MARK: Writing

    func write(_ changes: CampaignChanges) throws {
        var pipeline = PostgresPipeline()
        for app in changes.apps { try app.update(&pipeline) }
        for campaign in changes.campaigns {
            pipeline.add(CampaignRecord.putting, PostgresValue.list(campaign.values))
        }
        CampaignChanges.Chunk.put(Array(changes.chunks), &pipeline)
        try CampaignEntry.put(changes.entries, &pipeline)
        try Self.park(changes.parked, removing: changes.unparked, &pipeline)
        for entry in changes.audit { pipeline.add(AuditEntry.inserting, PostgresValue.list(entry.arguments)) }
        if !changes.audit.isEmpty, changes.auditKept < .max {
            pipeline.add(
                "DELETE FROM admin_audit WHERE number <= (SELECT max(number) FROM admin_audit) - $1",
                PostgresValue.list([changes.auditKept]))
        }
        guard !pipeline.isEmpty else { return }
        _ = try run(pipeline)
    }

    private static func park(
        _ reports: [OutcomeReport], removing unparked: Set<ClientRealmKey>, _ pipeline: inout PostgresPipeline
    ) throws {
        // The last one of several reports about one client realm counts.
        var latest: [ClientRealmKey: Int] = [:]
        for (index, report) in reports.enumerated() {
            latest[ClientRealmKey(realm: report.realm, clientFile: report.identOld)] = index
        }
        let gone = unparked.union(latest.keys)
        guard !gone.isEmpty else { return }
        pipeline.add(
            """
            DELETE FROM parked_outcomes WHERE (app, partition, client_file) IN
                (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]))
            """, KeyColumns(gone).values)
        let parked = latest.sorted { $0.value < $1.value }
        guard !parked.isEmpty else { return }
        pipeline.add(
            """
            INSERT INTO parked_outcomes (app, partition, client_file, report)
            SELECT app, partition, client_file, report
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
                AS parked (app, partition, client_file, report, place) ORDER BY place
            """,
            KeyColumns(parked.map(\.key)).values + [try parked.map { try reports[$0.value].storedText() }.value])
    }

    func markFound(_ campaigns: Set<String>, at now: UInt64) throws {
        _ = try change(
            "UPDATE campaign_realms SET found_at = $1 WHERE campaign = ANY($2) AND found_at IS NULL", now,
            Array(campaigns))
    }

    func giveUpPending(of campaign: String, limit: Int, at now: UInt64) throws -> Int {
        try change(
            """
            UPDATE campaign_realms SET outcome = 'unknown', updated_at = $1
            WHERE (campaign, partition, client_file) IN
                (SELECT campaign, partition, client_file FROM campaign_realms
                 WHERE campaign = $2 AND outcome = 'pending' AND found_at IS NOT NULL LIMIT $3)
            """, now, campaign, limit)
    }

    // MARK: Forgetting

    func removeClosedCampaigns(ofApp app: String, beyond newest: Int) throws {
        let old = try rows(
            """
            SELECT id FROM
                (SELECT id, row_number() OVER (PARTITION BY kind ORDER BY number DESC) AS place FROM campaigns
                 WHERE app = $1 AND state = 'closed' AND kind = ANY($2)) AS closed
            WHERE place > $3
            """, app, CampaignRecord.Kind.allCases.map(\.rawValue), newest
        ).map { try $0.text("id") }
        guard !old.isEmpty else { return }
        var pipeline = PostgresPipeline()
        pipeline.add("DELETE FROM campaign_realms WHERE campaign = ANY($1)", [old.value])
        pipeline.add("DELETE FROM campaign_chunks WHERE campaign = ANY($1)", [old.value])
        pipeline.add("DELETE FROM campaigns WHERE id = ANY($1)", [old.value])
        _ = try run(pipeline)
    }

    func removeUnfound(beyond most: Int) throws -> Int {
        try change(
            """
            DELETE FROM campaign_realms WHERE (campaign, partition, client_file) IN
                (SELECT campaign, partition, client_file FROM campaign_realms WHERE found_at IS NULL
                 ORDER BY updated_at DESC OFFSET $1)
            """, most)
    }

    func removeParked(beyond most: Int) throws -> Int {
        try change(
            """
            DELETE FROM parked_outcomes WHERE number <=
                (SELECT number FROM parked_outcomes ORDER BY number DESC LIMIT 1 OFFSET $1)
            """, most)
    }

    // MARK: Waiting

    private func rows(_ sql: String, _ arguments: any ControlArgument...) throws -> [any ControlRow] {
        PostgresControlRow.list(try run(one: sql, arguments))
    }

    /// - Returns: how many rows it has changed.
    private func change(_ sql: String, _ arguments: any ControlArgument...) throws -> Int {
        try run(one: sql, arguments).affected
    }

    private func run(one sql: String, _ arguments: [any ControlArgument]) throws -> PostgresRows {
        try run(PostgresPipeline(sql, PostgresValue.list(arguments)))[0]
    }

    private func run(_ pipeline: PostgresPipeline) throws -> PostgresAnswer {
        let answer = AwaitedAnswer()
        // Awaited in the next line, by a thread that is none of those that tasks run on.
        Task.detached { [transaction] in
            do {
                answer.set(.success(try await transaction.transaction.run(pipeline)))
            } catch {
                answer.set(.failure(error))
            }
        }
        return try answer.wait()
    }
}

/// An answer that a thread waits for.
private final class AwaitedAnswer: Sendable {
    private let result = Mutex<Result<PostgresAnswer, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ result: Result<PostgresAnswer, any Error>) {
        self.result.withLock { $0 = result }
        isThere.signal()
    }

    func wait() throws -> PostgresAnswer {
        isThere.wait()
        return try result.withLock { result in
            guard let result else { throw CancellationError() }
            return try result.get()
        }
    }
}

/// Client realms as columns, one row for each.
private struct KeyColumns {
    private var apps: [String] = []
    private var partitions: [String] = []
    private var files: [FileIdent] = []

    init(_ keys: some Sequence<ClientRealmKey>) {
        for key in keys {
            apps.append(key.realm.app)
            partitions.append(key.realm.partition)
            files.append(key.clientFile)
        }
    }

    var values: [PostgresValue] { [apps.value, partitions.value, files.value] }
}
