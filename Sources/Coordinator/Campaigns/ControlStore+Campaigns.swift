package import Storage
package import SyncModel

/// A termination or reset to be recorded.
package struct CampaignRequest: Sendable, Equatable {
    package var id: String
    package var app: String
    package var reason: String?
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(id: String, app: String, reason: String?, at: UInt64) {
        self.id = id
        self.app = app
        self.reason = reason
        self.at = at
    }
}

// What becomes of campaigns: each call is one transaction.
extension CampaignStore {
    /// Records a termination: the app's generation + 1, its sync state and the campaign (`publishing`). The same id again changes
    /// nothing and returns what was recorded.
    ///
    /// - Parameter enable: sync goes on at once with the new generation; else it stays off until it is enabled.
    /// - Throws: `notFound` for the app, `alreadyExists` if the id belongs to something else.
    package func terminate(
        _ request: CampaignRequest, enable: Bool, slices: Int
    ) async throws(StoreError) -> (app: AppRecord, campaign: CampaignRecord) {
        try await changeCampaigns { [limits] rows in
            var app = try rows.existingApp(request.app)
            if let known = try rows.sameCampaign(request, .termination) { return (app, known) }
            app.generation &+= 1
            app.syncState = enable ? .enabled : .terminated
            try rows.put(app)
            let campaign = CampaignRecord(
                id: request.id, app: app.id, kind: .termination, reason: request.reason, startedAt: request.at,
                generation: app.generation, slicesExpected: slices)
            try rows.put(campaign)
            try rows.forgetOldCampaigns(of: app.id, limits)
            return (app, campaign)
        }
    }

    /// Records the reset of one realm's client realms, or of one of them (`publishing`).
    /// - Throws: as `terminate`.
    package func startReset(
        _ request: CampaignRequest, partition: String, clientFile: FileIdent?
    ) async throws(StoreError) -> CampaignRecord {
        try await changeCampaigns { [limits] rows in
            let app = try rows.existingApp(request.app)
            if let known = try rows.sameCampaign(request, .reset) { return known }
            let campaign = CampaignRecord(
                id: request.id, app: app.id, kind: .reset, reason: request.reason, partition: partition,
                clientFile: clientFile, startedAt: request.at, generation: app.generation, slicesExpected: 1)
            try rows.put(campaign)
            try rows.forgetOldCampaigns(of: app.id, limits)
            return campaign
        }
    }

    /// The campaign's message has reached the broker. Returns the campaign as it is now.
    /// - Throws: `notFound`.
    package func campaignPublished(_ id: String, at now: UInt64) async throws(StoreError) -> CampaignRecord {
        try await changeCampaigns { rows in
            guard var campaign = try rows.campaign(id) else {
                throw StoreError(.notFound, "there is no campaign \(id)")
            }
            if campaign.state == .publishing {
                campaign.state = .counting
                try rows.put(campaign)
            }
            return try rows.settle(id, at: now)
        }
    }

    /// Applies reports in one transaction. Order and repetition do not matter.
    ///
    /// - Parameter slices: how many slices a campaign that is opened from a report expects.
    package func apply(
        _ reports: [CampaignReport], slices: Int, at now: UInt64
    ) async throws(StoreError) -> CampaignEffects {
        try await changeCampaigns { [limits] rows in
            var accounts = CampaignAccounts(rows: rows, slices: slices, now: now, limits: limits)
            return try accounts.apply(reports)
        }
    }
}

extension CampaignRows {
    fileprivate func existingApp(_ id: String) throws -> AppRecord {
        guard let app = try app(id) else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    /// The campaign of a request that is repeated.
    fileprivate func sameCampaign(
        _ request: CampaignRequest, _ kind: CampaignRecord.Kind
    ) throws -> CampaignRecord? {
        guard let known = try campaign(request.id) else { return nil }
        guard known.app == request.app, known.kind == kind else {
            throw StoreError(.alreadyExists, "campaign \(request.id) is a \(known.kind.rawValue) of app \(known.app)")
        }
        return known
    }
}
