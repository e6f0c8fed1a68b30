import Storage
import SyncModel

/// A termination or reset to be recorded.
struct CampaignRequest: Sendable, Equatable {
    var id: String
    var app: String
    var reason: String?
    /// Milliseconds of Unix time.
    var at: UInt64
}

// What becomes of campaigns: each call is one transaction.
extension CampaignStore {
    /// Records a termination: the app's generation + 1, its sync state and the campaign (`publishing`). The same id again changes
    /// nothing and returns what was recorded.
    ///
    /// - Parameter enable: sync goes on at once with the new generation; else it stays off until it is enabled.
    /// - Throws: `notFound` for the app, `alreadyExists` if the id belongs to something else.
    func terminate(
        _ request: CampaignRequest, enable: Bool, slices: Int, limits: CampaignLimits = CampaignLimits()
    ) async throws(StoreError) -> (app: AppRecord, campaign: CampaignRecord) {
        try await record(request, as: .termination, limits) { app in
            app.generation &+= 1
            app.syncState = enable ? .enabled : .terminated
            return CampaignRecord(
                id: request.id, app: app.id, kind: .termination, reason: request.reason, startedAt: request.at,
                generation: app.generation, slicesExpected: slices)
        }
    }

    /// Records the reset of one realm's client realms, or of one of them (`publishing`).
    /// - Throws: as `terminate`.
    func startReset(
        _ request: CampaignRequest, partition: String, clientFile: FileIdent?, limits: CampaignLimits = CampaignLimits()
    ) async throws(StoreError) -> CampaignRecord {
        try await record(request, as: .reset, limits) { app in
            CampaignRecord(
                id: request.id, app: app.id, kind: .reset, reason: request.reason, partition: partition,
                clientFile: clientFile, startedAt: request.at, generation: app.generation, slicesExpected: 1)
        }.campaign
    }

    /// Records that a realm is taken away (`publishing`).
    /// - Throws: as `terminate`.
    func startErasure(
        _ request: CampaignRequest, partition: String, limits: CampaignLimits = CampaignLimits()
    ) async throws(StoreError) -> CampaignRecord {
        try await record(request, as: .erasure, limits) { app in
            CampaignRecord(
                id: request.id, app: app.id, kind: .erasure, reason: request.reason, partition: partition,
                startedAt: request.at, generation: app.generation, slicesExpected: 1)
        }.campaign
    }

    /// - Parameter make: makes the campaign, and changes the app for it.
    private func record(
        _ request: CampaignRequest, as kind: CampaignRecord.Kind, _ limits: CampaignLimits,
        _ make: @escaping @Sendable (inout AppRecord) -> CampaignRecord
    ) async throws(StoreError) -> (app: AppRecord, campaign: CampaignRecord) {
        try await changeCampaigns { transaction in
            var lookup = CampaignLookup()
            lookup.apps = [request.app]
            lookup.campaigns = [request.id]
            let found = try transaction.read(lookup)
            guard var app = found.apps[request.app] else {
                throw StoreError(.notFound, "there is no app \(request.app)")
            }
            if let known = found.campaigns[request.id] {
                guard known.app == request.app, known.kind == kind else {
                    throw StoreError(
                        .alreadyExists, "campaign \(request.id) is a \(known.kind.rawValue) of app \(known.app)")
                }
                return (app, known)
            }
            var changes = CampaignChanges()
            changes.campaigns = [make(&app)]
            changes.apps = [app]
            try transaction.write(changes)
            try transaction.removeClosedCampaigns(ofApp: app.id, beyond: limits.closedCampaigns)
            return (app, changes.campaigns[0])
        }
    }

    /// The campaign's message has reached the broker. Returns the campaign as it is now.
    /// - Throws: `notFound`.
    func campaignPublished(_ id: String, at now: UInt64) async throws(StoreError) -> CampaignRecord {
        try await changeCampaigns { transaction in
            var lookup = CampaignLookup()
            lookup.campaigns = [id]
            guard var campaign = try transaction.read(lookup).campaigns[id] else {
                throw StoreError(.notFound, "there is no campaign \(id)")
            }
            if campaign.state == .publishing { campaign.state = .counting }
            return try transaction.settle([campaign], at: now)[0]
        }
    }

    /// Closes campaigns that have been open for too long, with what they know: whose reset is pending ends as unknown. At most
    /// `limit` client realms at once, and as many campaigns.
    ///
    /// - Returns: the campaigns that are closed now, and of how many client realms the end stays unknown, by app. With neither
    ///   nothing is left to do.
    func closeCampaigns(
        startedBefore time: UInt64, limit: Int, at now: UInt64
    ) async throws(StoreError) -> (closed: [CampaignRecord], unknown: [String: Int]) {
        try await changeCampaigns { transaction in
            var left = limit
            var unknown: [String: Int] = [:]
            var over = CampaignChanges()
            for campaign in try transaction.closable(startedBefore: time, limit: limit) where left > 0 {
                // What clients and slices have said of is found, also where not every slice has said that it is through.
                try transaction.markFound([campaign.id], at: now)
                let count = try transaction.giveUpPending(of: campaign.id, limit: left, at: now)
                unknown[campaign.app, default: 0] += count
                left -= count
                guard left > 0 else { break }
                var campaign = campaign
                campaign.state = .closed
                campaign.closedAt = now
                over.campaigns.append(campaign)
            }
            try transaction.write(over)
            return (over.campaigns, unknown.filter { $0.value > 0 })
        }
    }

    /// Applies reports in one transaction. Order and repetition do not matter.
    ///
    /// - Parameters:
    ///   - slices: how many slices a campaign that is opened from a report expects.
    ///   - noting: makes the entries that the audit log gets of campaigns that nobody had recorded: with them, or not at all. Called
    ///     again if the transaction has to be repeated.
    func apply(
        _ reports: [CampaignReport], slices: Int, at now: UInt64, limits: CampaignLimits = CampaignLimits(),
        noting: @escaping @Sendable ([CampaignRecord]) -> [AuditEntry] = { _ in [] }
    ) async throws(StoreError) -> CampaignEffects {
        try await changeCampaigns { transaction in
            var accounts = CampaignAccounts(try transaction.read(CampaignLookup(reports)), slices: slices, now: now)
            accounts.apply(reports)
            var changes = accounts.changes
            var effects = accounts.effects
            changes.audit = noting(effects.opened)
            changes.auditKept = AuditTrail.most
            try transaction.write(changes)
            // Touched campaigns need not be among those that the reports name: a client names none, and another
            // campaign may take over.
            var others = CampaignLookup()
            others.campaigns = Set(accounts.touched).subtracting(accounts.campaigns.keys)
            let campaigns = try accounts.campaigns.merging(transaction.read(others).campaigns) { known, _ in known }
            effects.changed = try transaction.settle(accounts.touched.compactMap { campaigns[$0] }, at: now)
            // Not before: a report may be about a campaign that is forgotten for what the same batch opens.
            for app in Set(effects.opened.map(\.app)) {
                try transaction.removeClosedCampaigns(ofApp: app, beyond: limits.closedCampaigns)
            }
            if accounts.madeEarlyEntry { effects.dropped += try transaction.removeUnfound(beyond: limits.earlyEntries) }
            if effects.parked > 0 { effects.dropped += try transaction.removeParked(beyond: limits.parkedOutcomes) }
            return effects
        }
    }
}

extension CampaignTransaction {
    /// Brings campaigns' progress and state up to date with their entries.
    fileprivate func settle(_ campaigns: [CampaignRecord], at now: UInt64) throws -> [CampaignRecord] {
        let reported = try slicesReported(to: Set(campaigns.map(\.id)))
        let complete = Set(
            campaigns.filter { $0.state != .publishing && reported[$0.id] ?? 0 >= $0.slicesExpected }.map(\.id))
        try markFound(complete, at: now)
        let counts = try counts(of: complete)
        var changes = CampaignChanges()
        changes.campaigns = campaigns.map { campaign in
            var campaign = campaign
            campaign.slicesReported = reported[campaign.id] ?? 0
            if let counts = counts[campaign.id] {
                campaign.state = counts.pending == 0 ? .closed : .running
            } else if campaign.state != .publishing {
                campaign.state = .counting
            }
            campaign.closedAt = campaign.state == .closed ? campaign.closedAt ?? now : nil
            return campaign
        }
        try write(changes)
        return changes.campaigns
    }
}
