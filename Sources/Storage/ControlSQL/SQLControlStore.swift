package import SyncModel

/// A control store in a database that understands SQL. What takes one statement, and the same one in every engine, is said here.
///
/// Parameters are `$1` and so on. SQLite takes what stands behind a colon for a part of their names: there must be no `$1::text`.
package protocol SQLControlStore: ControlStore {
    /// What the rows hold that a statement returns.
    ///
    /// - Parameter what: is read: for errors.
    func records<Value: Sendable>(
        _ what: StaticString, _ sql: String, _ arguments: [ControlValue],
        as value: @escaping @Sendable (any ControlRow) throws -> Value
    ) async throws(StoreError) -> [Value]
    /// Runs one statement that changes something.
    ///
    /// - Parameter what: is written: for errors.
    /// - Returns: how many rows it has changed.
    @discardableResult
    func run(_ what: StaticString, _ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> Int
    /// The campaigns that a statement returns, with their counts, all of one state.
    func summaries(_ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> [CampaignSummary]
}

// MARK: - The cluster

extension SQLControlStore {
    package func cluster() async throws(StoreError) -> ClusterRecord? {
        try await settings("the cluster's id", ClusterSettings.selectingCluster).cluster
    }

    package func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await settings("the slices that were made", ClusterSettings.selectingSlices).slicesMade()
    }

    private func settings(_ what: StaticString, _ sql: String) async throws(StoreError) -> ClusterSettings {
        let settings = try await records(what, sql, []) { (try $0.text("name"), try $0.text("value")) }
        return ClusterSettings(Dictionary(settings) { first, _ in first })
    }

    package func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try await raise("the slices that were made", "slice.\(slice)", to: epoch.value)
    }

    package func lastBackup() async throws(StoreError) -> UInt64? {
        let sql = "SELECT name, value FROM settings WHERE name = '\(ClusterSettings.backup)'"
        return try await settings("the last backup", sql).values.values.first.flatMap { UInt64($0) }
    }

    package func recordBackup(of moment: UInt64) async throws(StoreError) {
        try await raise("the last backup", ClusterSettings.backup, to: moment)
    }

    /// Sets a setting that is a number, unless it has a greater one.
    private func raise(_ what: StaticString, _ name: String, to number: UInt64) async throws(StoreError) {
        try await run(
            what,
            """
            INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
                WHERE CAST(settings.value AS numeric) < CAST(excluded.value AS numeric)
            """, [.text(name), .text(String(number))])
    }

    package func forgetSlice(_ slice: SliceNumber) async throws(StoreError) {
        try await run("the slices that were made", "DELETE FROM settings WHERE name = $1", [.text("slice.\(slice)")])
    }
}

// MARK: - Apps

extension SQLControlStore {
    package func app(_ id: String) async throws(StoreError) -> AppRecord? {
        try await records("the app", "SELECT * FROM apps WHERE id = $1", [.text(id)], as: AppRecord.init(row:)).first
    }

    package func apps() async throws(StoreError) -> [AppRecord] {
        try await records("the apps", "SELECT * FROM apps ORDER BY id", [], as: AppRecord.init(row:))
    }

    package func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord? {
        try await records(
            "the rules", "SELECT * FROM app_rules WHERE app = $1 AND version = $2", [.text(app), .number(version)],
            as: RulesRecord.init(row:)
        ).first
    }

    package func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading] {
        try await records(
            "the rules' history",
            """
            SELECT version, author, at, length(document) AS bytes FROM app_rules
            WHERE app = $1 AND version < $2 ORDER BY version DESC LIMIT $3
            """, [.text(app), .number(after ?? .max), .count(max(limit, 0))], as: RulesHeading.init(row:))
    }

    package func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] {
        try await records(
            "the app's schema",
            "SELECT class, property, type FROM app_schema WHERE app = $1 ORDER BY class, property, type", [.text(app)],
            as: SchemaElement.init(row:))
    }

    package func finishDeletion(ofApp app: String, at: UInt64) async throws(StoreError) {
        try await run(
            "the deletion", "UPDATE app_deletions SET finished_at = $1 WHERE app = $2 AND finished_at IS NULL",
            [.number(at), .text(app)])
    }
}

// MARK: - Admins

extension SQLControlStore {
    package func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord? {
        try await records(
            "the admin token", "SELECT * FROM admin_tokens WHERE digest = $1", [.text(digest)],
            as: AdminTokenRecord.init(row:)
        ).first
    }

    package func adminTokens() async throws(StoreError) -> [AdminTokenRecord] {
        try await records(
            "the admin tokens", "SELECT * FROM admin_tokens ORDER BY name", [], as: AdminTokenRecord.init(row:))
    }

    package func removeAdminToken(_ name: String) async throws(StoreError) {
        let count = try await run("the admin token", "DELETE FROM admin_tokens WHERE name = $1", [.text(name)])
        guard count > 0 else { throw StoreError(.notFound, "there is no admin token \(name)") }
    }

    package func endAudit(
        _ number: Int64, status: Int, details: String?, isDryRun: Bool
    ) async throws(StoreError) {
        try await run(
            "the audit log", "UPDATE admin_audit SET status = $1, details = $2, dry_run = $4 WHERE number = $3",
            [.count(status), .text(details), .integer(number), .boolean(isDryRun)])
    }

    package func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await records(
            "the audit log", "SELECT * FROM admin_audit WHERE number < $1 ORDER BY number DESC LIMIT $2",
            [.integer(before ?? .max), .count(max(limit, 0))], as: AuditEntry.init(row:))
    }
}

// MARK: - Campaigns

extension SQLControlStore {
    package func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await records(
            "the campaigns", "SELECT * FROM campaigns WHERE state = 'publishing' ORDER BY number", [],
            as: CampaignRecord.init(row:))
    }

    package func campaigns(
        _ filter: CampaignFilter, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary] {
        try await summaries(
            """
            SELECT * FROM campaigns
            WHERE (CAST($1 AS text) IS NULL OR app = $1) AND (kind = 'account') = $2
              AND (CAST($3 AS text) IS NULL OR number < (SELECT number FROM campaigns WHERE id = $3))
              AND (NOT $5 OR state <> 'closed')
              AND (CAST($6 AS text) IS NULL OR lower(id) LIKE $6 ESCAPE '\\' OR lower(reason) LIKE $6 ESCAPE '\\')
            ORDER BY number DESC LIMIT $4
            """,
            [
                .text(filter.app), .boolean(filter.accounts), .text(after), .count(max(limit, 0)),
                .boolean(filter.isOpen), .text(filter.pattern),
            ])
    }

    package func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        try await summaries(
            """
            SELECT * FROM campaigns WHERE number IN
                (SELECT max(number) FROM campaigns WHERE kind <> 'account' GROUP BY app)
            ORDER BY app
            """, [])
    }

    /// Each page begins in the primary key where the one before ended: going through all of a campaign costs the same everywhere.
    package func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        let place =
            filter.partition == nil ? "(partition, client_file) > ($3, $4)" : "partition = $3 AND client_file > $4"
        return try await records(
            "the campaign's client realms",
            """
            SELECT * FROM campaign_realms
            WHERE campaign = $1 AND found_at IS NOT NULL AND (CAST($2 AS text) IS NULL OR outcome = $2)
              AND (CAST($6 AS text) IS NULL OR "user" = $6) AND \(place)
            ORDER BY partition, client_file LIMIT $5
            """,
            [
                .text(campaign), .text(filter.outcome?.rawValue), .text(filter.partition ?? after?.partition ?? ""),
                .number(after?.clientFile ?? 0), .count(max(limit, 0)), .text(filter.user),
            ], as: CampaignClientRealm.init(row:))
    }

    package func clientRealmHistory(
        _ key: ClientRealmKey, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await records(
            "the client realm's campaigns",
            """
            SELECT campaign_realms.* FROM campaign_realms JOIN campaigns ON campaigns.id = campaign
            WHERE campaign_realms.app = $1 AND campaign_realms.partition = $2
              AND campaign_realms.client_file = $3 AND found_at IS NOT NULL
            ORDER BY campaigns.number DESC LIMIT $4
            """, [.text(key.realm.app), .text(key.realm.partition), .number(key.clientFile), .count(max(limit, 0))],
            as: CampaignClientRealm.init(row:))
    }
}
