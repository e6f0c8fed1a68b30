import GRDB
import Messages
import Storage

/// Applies a batch of reports inside one transaction.
///
/// A notification or outcome that comes before the found report makes a row without `found_at`, which counts nowhere
/// until the slice reports. When every slice has reported, rows that none of them listed count as found too: somebody
/// was told to reset in this campaign's name, and must not be lost.
struct CampaignApplication {
    let db: Database
    let slices: Int
    let now: UInt64
    let limits: SQLiteControlStore.Limits
    var effects = CampaignEffects()
    var touched: [String] = []
    var madeEarlyRow = false

    init(db: Database, slices: Int, now: UInt64, limits: SQLiteControlStore.Limits) {
        self.db = db
        self.slices = slices
        self.now = now
        self.limits = limits
    }

    mutating func apply(_ report: CampaignReport, index: Int) throws {
        guard let app = try SQLiteControlStore.app(report.app, db) else {
            return reject(index, "there is no app \(report.app.prefix(64))")
        }
        if let problem = report.problem { return reject(index, problem) }
        switch report {
        case .found(let found): try apply(found, app: app, index: index)
        case .notified(let notified): try apply(notified, index: index)
        case .outcome(let outcome): try apply(outcome, index: index)
        }
    }

    mutating func finish() throws -> CampaignEffects {
        for id in touched { effects.changed.append(try Self.settle(id, at: now, db)) }
        // Not before: a report may be about one that is forgotten for what the same batch opens.
        for app in Set(effects.opened.map(\.app)) { try SQLiteControlStore.forgetOldCampaigns(of: app, limits, db) }
        if madeEarlyRow { try dropEarlyRows() }
        if effects.parked > 0 { try dropParked() }
        return effects
    }

    /// Brings a campaign's progress and state up to date with its rows.
    static func settle(_ id: String, at now: UInt64, _ db: Database) throws -> CampaignRecord {
        guard var campaign = try SQLiteControlStore.campaign(id, db) else {
            throw StoreError(.corrupt, "campaign \(id) has vanished inside a transaction")
        }
        campaign.slicesReported =
            try Int.fetchOne(
                db,
                sql: """
                    SELECT COUNT(DISTINCT slice) FROM (
                        SELECT slice FROM campaign_chunks WHERE campaign = ?
                        GROUP BY slice, chunks HAVING COUNT(*) = chunks)
                    """, arguments: [id]) ?? 0
        if campaign.state != .publishing {
            if campaign.slicesReported < campaign.slicesExpected {
                campaign.state = .counting
            } else {
                try db.execute(
                    sql: "UPDATE campaign_realms SET found_at = ? WHERE campaign = ? AND found_at IS NULL",
                    arguments: [sqlInteger(now), id])
                let pending = try SQLiteControlStore.counts(of: id, db).pending
                campaign.state = pending == 0 ? .closed : .running
            }
        }
        campaign.closedAt = campaign.state == .closed ? campaign.closedAt ?? now : nil
        try db.execute(
            sql: "UPDATE campaigns SET state = ?, slices_reported = ?, closed_at = ?, generation = ? WHERE id = ?",
            arguments: [
                campaign.state.rawValue, campaign.slicesReported, sqlInteger(campaign.closedAt),
                sqlInteger(campaign.generation), id,
            ])
        return campaign
    }

    mutating func reject(_ index: Int, _ reason: String) {
        effects.rejected.append(.init(index: index, reason: reason))
    }

    mutating func touch(_ campaign: String) {
        if !touched.contains(campaign) { touched.append(campaign) }
    }
}

// MARK: - Found

extension CampaignApplication {
    mutating func apply(_ report: FoundReport, app: AppRecord, index: Int) throws {
        guard let kind = CampaignRecord.Kind(rawValue: report.kind) else {
            return reject(index, "kind: expected termination or reset, found \(report.kind.prefix(40))")
        }
        if let known = try SQLiteControlStore.campaign(report.campaign, db) {
            guard known.app == report.app else {
                return reject(index, "campaign \(known.id) is app \(known.app)'s, not \(report.app)'s")
            }
            if report.generation > known.generation {
                try db.execute(
                    sql: "UPDATE campaigns SET generation = ? WHERE id = ?",
                    arguments: [sqlInteger(report.generation), known.id])
            }
        } else {
            let campaign = CampaignRecord(
                id: report.campaign, app: report.app, kind: kind, reason: report.reason, startedAt: now,
                generation: report.generation, state: .counting,
                slicesExpected: kind == .termination ? slices : 1)
            try SQLiteControlStore.insert(campaign, db)
            effects.opened.append(campaign)
        }
        if kind == .termination, report.generation > app.generation {
            var app = app
            app.generation = report.generation
            try SQLiteControlStore.save(app, db)
            if !effects.raisedApps.contains(app.id) { effects.raisedApps.append(app.id) }
        }
        try db.execute(
            sql: "INSERT OR IGNORE INTO campaign_chunks (campaign, slice, chunks, chunk) VALUES (?, ?, ?, ?)",
            arguments: [report.campaign, report.slice.value, report.chunks, report.chunk])
        for realm in report.clientRealms { try find(realm, report) }
        touch(report.campaign)
    }

    mutating func find(_ realm: FoundReport.ClientRealm, _ report: FoundReport) throws {
        let key = CampaignRowKey(
            campaign: report.campaign, partition: RealmName.partition(fromText: realm.partition),
            clientFile: realm.clientFile)
        var row = try fetch(key) ?? CampaignRow(app: report.app, user: realm.user)
        let isNew = row.foundAt == nil
        // Whoever reported before the realm was known to be theirs may have been a stranger.
        if row.report?.evidence == .client, isStranger(row.user, to: realm.user) { row.report = nil }
        row.user = realm.user
        row.slice = report.slice.value
        row.lastSeen = max(row.lastSeen, realm.lastSeen)
        row.foundAt = row.foundAt ?? now
        if isNew, let parked = try takeParked(app: report.app, key) {
            if parked.evidence != .client || !isStranger(parked.user, to: realm.user) { row.consider(parked) }
        }
        try save(row, key)
        if isNew { try supersedeAllButTheLast(of: key, app: report.app) }
    }

    /// Where several campaigns want one client realm to reset, that of the highest sync generation accounts for its reset: a
    /// termination takes over whoever has yet to reset. Whatever order the reports come in, the result is the same.
    mutating func supersedeAllButTheLast(of key: CampaignRowKey, app: String) throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT campaign, generation FROM campaign_realms
                    JOIN campaigns ON campaigns.id = campaign_realms.campaign
                    WHERE campaign_realms.app = ? AND campaign_realms.partition = ? AND campaign_realms.client_file = ?
                    ORDER BY generation DESC
                    """), arguments: [app, key.partition, sqlInteger(key.clientFile)])
        guard rows.count > 1, let last = rows.first else { return }
        for earlier in rows where earlier.unsigned("generation") < last.unsigned("generation") {
            var key = key
            key.campaign = earlier["campaign"]
            guard var row = try fetch(key), row.supersededBy == nil else { continue }
            row.supersededBy = last["campaign"]
            try save(row, key)
            touch(key.campaign)
        }
    }
}

// MARK: - Notified and outcomes

extension CampaignApplication {
    mutating func apply(_ report: NotifiedReport, index: Int) throws {
        if let problem = try mismatch(campaign: report.campaign, app: report.realm.app) {
            return reject(index, problem)
        }
        let key = CampaignRowKey(
            campaign: report.campaign, partition: report.realm.partition, clientFile: report.clientFile)
        let known = try fetch(key)
        var row = known ?? CampaignRow(app: report.realm.app, user: "")
        row.notifiedAt = min(row.notifiedAt ?? .max, report.at)
        try save(row, key)
        if known == nil { try supersedeAllButTheLast(of: key, app: report.realm.app) }
        try noteUse(of: report.campaign, row)
    }

    mutating func apply(_ report: OutcomeReport, index: Int) throws {
        let campaign = try report.campaign ?? newestCampaign(of: report)
        guard let campaign else { return try park(report) }
        if let problem = try mismatch(campaign: campaign, app: report.realm.app) { return reject(index, problem) }
        let key = CampaignRowKey(campaign: campaign, partition: report.realm.partition, clientFile: report.identOld)
        let known = try fetch(key)
        var row = known ?? CampaignRow(app: report.realm.app, user: report.user)
        if report.evidence == .client, isStranger(report.user, to: row.user) {
            return reject(index, "client file \(report.identOld) is not the reporting user's")
        }
        if row.user.isEmpty { row.user = report.user }
        row.consider(report)
        try save(row, key)
        if known == nil { try supersedeAllButTheLast(of: key, app: report.realm.app) }
        try noteUse(of: campaign, row)
    }

    /// The campaign that accounts for the client realm, the newest of those that list it but one that is superseded: by
    /// (app, partition, identOld), as a client knows no campaigns.
    func newestCampaign(of report: OutcomeReport) throws -> String? {
        try String.fetchOne(
            db,
            sql: """
                SELECT campaign FROM campaign_realms JOIN campaigns ON campaigns.id = campaign_realms.campaign
                WHERE campaign_realms.app = ? AND campaign_realms.partition = ? AND campaign_realms.client_file = ?
                ORDER BY superseded_by IS NOT NULL, campaigns.number DESC LIMIT 1
                """, arguments: [report.realm.app, report.realm.partition, sqlInteger(report.identOld)])
    }

    func mismatch(campaign: String, app: String) throws -> String? {
        guard let known = try SQLiteControlStore.campaign(campaign, db), known.app != app else { return nil }
        return "campaign \(known.id) is app \(known.app)'s, not \(app.prefix(64))'s"
    }

    mutating func noteUse(of campaign: String, _ row: CampaignRow) throws {
        if row.foundAt == nil { madeEarlyRow = true }
        if try SQLiteControlStore.campaign(campaign, db) != nil { touch(campaign) }
    }

    /// A user may speak for its own client realms only; an empty name is one that nobody has told yet.
    func isStranger(_ reporter: String, to owner: String) -> Bool {
        !owner.isEmpty && reporter != owner
    }
}
