import Messages
import Storage
import SyncModel

/// Applies reports about campaigns, in any order and any number of times, to the rows of one transaction.
///
/// A notification or outcome that comes before the found report makes an entry without `foundAt`, which counts nowhere until the
/// slice reports. When every slice has reported, entries that no slice has listed count as found too: their clients were told to
/// reset in this campaign's name, and must not be lost.
struct CampaignAccounts {
    let rows: any CampaignRows
    let slices: Int
    let now: UInt64
    let limits: CampaignLimits
    private var effects = CampaignEffects()
    private var touched: [String] = []
    private var madeEarlyEntry = false

    init(rows: any CampaignRows, slices: Int, now: UInt64, limits: CampaignLimits) {
        self.rows = rows
        self.slices = slices
        self.now = now
        self.limits = limits
    }

    mutating func apply(_ reports: [CampaignReport]) throws -> CampaignEffects {
        for (index, report) in reports.enumerated() {
            do {
                try apply(report)
            } catch let refusal as Refusal {
                effects.rejected.append(.init(index: index, reason: refusal.reason))
            }
        }
        for id in touched { effects.changed.append(try rows.settle(id, at: now)) }
        // Not before: a report may be about one that is forgotten for what the same batch opens.
        for app in Set(effects.opened.map(\.app)) { try rows.forgetOldCampaigns(of: app, limits) }
        if madeEarlyEntry { effects.dropped += try rows.dropUnfound(beyond: limits.earlyEntries) }
        if effects.parked > 0 { effects.dropped += try rows.dropParkedOutcomes(beyond: limits.parkedOutcomes) }
        return effects
    }

    /// Why a report can never be applied. Thrown before anything is changed for it.
    private struct Refusal: Error { var reason: String }

    private mutating func apply(_ report: CampaignReport) throws {
        guard let app = try rows.app(report.app) else {
            throw Refusal(reason: "there is no app \(report.app.prefix(64))")
        }
        if let problem = report.problem { throw Refusal(reason: problem) }
        switch report {
        case .found(let found): try apply(found, app: app)
        case .notified(let notified): try apply(notified)
        case .outcome(let outcome): try apply(outcome)
        }
    }

    private mutating func touch(_ campaign: String) {
        if !touched.contains(campaign) { touched.append(campaign) }
    }

    // MARK: Found

    private mutating func apply(_ report: FoundReport, app: AppRecord) throws {
        guard let kind = CampaignRecord.Kind(rawValue: report.kind) else {
            throw Refusal(reason: "kind: expected termination or reset, found \(report.kind.prefix(40))")
        }
        if var known = try rows.campaign(report.campaign) {
            try require(known, isOf: report.app)
            if report.generation > known.generation {
                known.generation = report.generation
                try rows.put(known)
            }
        } else {
            let campaign = CampaignRecord(
                id: report.campaign, app: report.app, kind: kind, reason: report.reason, startedAt: now,
                generation: report.generation, state: .counting,
                slicesExpected: kind == .termination ? slices : 1)
            try rows.put(campaign)
            effects.opened.append(campaign)
        }
        if kind == .termination, report.generation > app.generation {
            var app = app
            app.generation = report.generation
            try rows.put(app)
            if !effects.raisedApps.contains(app.id) { effects.raisedApps.append(app.id) }
        }
        try rows.noteChunk(report.chunk, of: report.chunks, from: report.slice, campaign: report.campaign)
        for realm in report.clientRealms { try find(realm, report) }
        touch(report.campaign)
    }

    private mutating func find(_ realm: FoundReport.ClientRealm, _ report: FoundReport) throws {
        let key = CampaignEntryKey(
            campaign: report.campaign, partition: RealmName.partition(fromText: realm.partition),
            clientFile: realm.clientFile)
        var entry = try rows.entry(key) ?? CampaignEntry(app: report.app, user: realm.user, updatedAt: now)
        let isNew = entry.foundAt == nil
        // A client that reported before its slice had said whose the realm is may have been a stranger.
        if entry.report?.evidence == .client, isStranger(entry.user, to: realm.user) { entry.report = nil }
        entry.user = realm.user
        entry.slice = report.slice
        entry.lastSeen = max(entry.lastSeen, realm.lastSeen)
        entry.foundAt = entry.foundAt ?? now
        if isNew, let parked = try takeParked(app: report.app, key) {
            if parked.evidence != .client || !isStranger(parked.user, to: realm.user) { entry.consider(parked) }
        }
        try save(entry, key)
        if isNew { try supersedeAllButTheLast(of: key, app: report.app) }
    }

    private func takeParked(app: String, _ key: CampaignEntryKey) throws -> OutcomeReport? {
        let parked = try rows.parkedOutcome(app: app, partition: key.partition, clientFile: key.clientFile)
        if parked != nil {
            try rows.removeParkedOutcome(app: app, partition: key.partition, clientFile: key.clientFile)
        }
        return parked
    }

    /// Where several campaigns want one client realm to reset, that of the highest sync generation accounts for its reset: a
    /// termination takes over whoever has yet to reset. Whatever order the reports come in, the result is the same.
    private mutating func supersedeAllButTheLast(of key: CampaignEntryKey, app: String) throws {
        let all = try rows.entries(app: app, partition: key.partition, clientFile: key.clientFile)
        guard let last = all.max(by: { $0.generation < $1.generation }) else { return }
        for earlier in all where earlier.generation < last.generation && earlier.entry.supersededBy == nil {
            var (key, entry) = (key, earlier.entry)
            key.campaign = earlier.campaign
            entry.supersededBy = last.campaign
            try save(entry, key)
            touch(key.campaign)
        }
    }

    // MARK: Notified and outcomes

    private mutating func apply(_ report: NotifiedReport) throws {
        let campaign = try rows.campaign(report.campaign)
        if let campaign { try require(campaign, isOf: report.realm.app) }
        let key = CampaignEntryKey(
            campaign: report.campaign, partition: report.realm.partition, clientFile: report.clientFile)
        let known = try rows.entry(key)
        var entry = known ?? CampaignEntry(app: report.realm.app, user: "", updatedAt: now)
        entry.notifiedAt = min(entry.notifiedAt ?? .max, report.at)
        try use(entry, key, isNew: known == nil, campaign)
    }

    private mutating func apply(_ report: OutcomeReport) throws {
        guard let id = try report.campaign ?? campaignAccounting(for: report) else { return try park(report) }
        let campaign = try rows.campaign(id)
        if let campaign { try require(campaign, isOf: report.realm.app) }
        let key = CampaignEntryKey(campaign: id, partition: report.realm.partition, clientFile: report.identOld)
        let known = try rows.entry(key)
        var entry = known ?? CampaignEntry(app: report.realm.app, user: report.user, updatedAt: now)
        if report.evidence == .client, isStranger(report.user, to: entry.user) {
            throw Refusal(reason: "client file \(report.identOld) is not the reporting user's")
        }
        if entry.user.isEmpty { entry.user = report.user }
        entry.consider(report)
        try use(entry, key, isNew: known == nil, campaign)
    }

    private mutating func use(
        _ entry: CampaignEntry, _ key: CampaignEntryKey, isNew: Bool, _ campaign: CampaignRecord?
    ) throws {
        try save(entry, key)
        if isNew { try supersedeAllButTheLast(of: key, app: entry.app) }
        if entry.foundAt == nil { madeEarlyEntry = true }
        if campaign != nil { touch(key.campaign) }
    }

    /// The campaign that accounts for the client realm, as a client knows no campaigns: the newest of those that list the client
    /// realm, one that is not superseded if there is any.
    private func campaignAccounting(for report: OutcomeReport) throws -> String? {
        let all = try rows.entries(
            app: report.realm.app, partition: report.realm.partition, clientFile: report.identOld)
        return (all.first { $0.entry.supersededBy == nil } ?? all.first)?.campaign
    }

    private mutating func park(_ report: OutcomeReport) throws {
        effects.parked += 1
        let waiting = try rows.parkedOutcome(
            app: report.realm.app, partition: report.realm.partition, clientFile: report.identOld)
        if let waiting, !report.supersedes(waiting) { return }
        try rows.park(report)
    }

    // MARK: Rules

    private func require(_ campaign: CampaignRecord, isOf app: String) throws {
        guard campaign.app == app else {
            throw Refusal(reason: "campaign \(campaign.id) is app \(campaign.app)'s, not \(app.prefix(64))'s")
        }
    }

    private func save(_ entry: CampaignEntry, _ key: CampaignEntryKey) throws {
        var entry = entry
        entry.updatedAt = now
        try rows.put(entry, key)
    }

    /// A user may speak for its own client realms only; an empty name is one that nobody has told yet.
    private func isStranger(_ reporter: String, to owner: String) -> Bool {
        !owner.isEmpty && reporter != owner
    }
}

extension CampaignEntry {
    fileprivate mutating func consider(_ new: OutcomeReport) {
        if let other = new.supersededBy {
            supersededBy = supersededBy ?? other
            return
        }
        if let report, !new.supersedes(report) { return }
        report = new
    }
}

extension CampaignRows {
    /// Brings a campaign's progress and state up to date with its entries.
    func settle(_ id: String, at now: UInt64) throws -> CampaignRecord {
        guard var campaign = try campaign(id) else {
            throw StoreError(.corrupt, "campaign \(id) has vanished inside a transaction")
        }
        campaign.slicesReported = try slicesReported(to: id)
        if campaign.state != .publishing {
            if campaign.slicesReported < campaign.slicesExpected {
                campaign.state = .counting
            } else {
                try markFound(id, at: now)
                campaign.state = try counts(of: id).pending == 0 ? .closed : .running
            }
        }
        campaign.closedAt = campaign.state == .closed ? campaign.closedAt ?? now : nil
        try put(campaign)
        return campaign
    }

    /// Of each kind, so that many resets of single client realms do not push out what terminations came to.
    func forgetOldCampaigns(of app: String, _ limits: CampaignLimits) throws {
        for kind in CampaignRecord.Kind.allCases {
            for id in try closedCampaigns(of: app, kind, beyond: limits.closedCampaigns) { try removeCampaign(id) }
        }
    }
}
