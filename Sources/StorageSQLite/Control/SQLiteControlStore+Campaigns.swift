import GRDB
import Storage

extension SQLiteControlStore {
    func terminate(
        _ request: CampaignRequest, enable: Bool, slices: Int
    ) async throws(StoreError) -> (app: AppRecord, campaign: CampaignRecord) {
        try await write("the termination") { [limits] db in
            var app = try Self.existingApp(request.app, db)
            if let known = try Self.sameCampaign(request, .termination, db) { return (app, known) }
            app.generation &+= 1
            app.syncState = enable ? .enabled : .terminated
            try Self.save(app, db)
            let campaign = CampaignRecord(
                id: request.id, app: app.id, kind: .termination, reason: request.reason, startedAt: request.at,
                generation: app.generation, slicesExpected: slices)
            try Self.insert(campaign, db)
            try Self.forgetOldCampaigns(of: app.id, limits, db)
            return (app, campaign)
        }
    }

    func startReset(
        _ request: CampaignRequest, partition: String, clientFile: UInt64?
    ) async throws(StoreError) -> CampaignRecord {
        try await write("the reset") { [limits] db in
            let app = try Self.existingApp(request.app, db)
            if let known = try Self.sameCampaign(request, .reset, db) { return known }
            let campaign = CampaignRecord(
                id: request.id, app: app.id, kind: .reset, reason: request.reason, partition: partition,
                clientFile: clientFile, startedAt: request.at, generation: app.generation, slicesExpected: 1)
            try Self.insert(campaign, db)
            try Self.forgetOldCampaigns(of: app.id, limits, db)
            return campaign
        }
    }

    func campaignPublished(_ id: String, at: UInt64) async throws(StoreError) -> CampaignRecord {
        try await write("the campaign") { db in
            try db.execute(
                sql: "UPDATE campaigns SET state = 'counting' WHERE id = ? AND state = 'publishing'", arguments: [id])
            guard try Self.campaign(id, db) != nil else { throw StoreError(.notFound, "there is no campaign \(id)") }
            return try CampaignApplication.settle(id, at: at, db)
        }
    }

    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await read("the campaigns") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM campaigns WHERE state = 'publishing' ORDER BY number")
                .map(CampaignRecord.init)
        }
    }

    func apply(
        _ reports: [CampaignReport], slices: Int, at: UInt64
    ) async throws(StoreError) -> CampaignEffects {
        try await write("the reports") { [limits] db in
            var application = CampaignApplication(db: db, slices: slices, now: at, limits: limits)
            for (index, report) in reports.enumerated() { try application.apply(report, index: index) }
            return try application.finish()
        }
    }

    static func campaign(_ id: String, _ db: Database) throws -> CampaignRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM campaigns WHERE id = ?", arguments: [id]).map(CampaignRecord.init)
    }

    static func insert(_ campaign: CampaignRecord, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO campaigns (id, app, kind, reason, partition, client_file, started_at, generation, state,
                    slices_expected, slices_reported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                campaign.id, campaign.app, campaign.kind.rawValue, campaign.reason, campaign.partition,
                sqlInteger(campaign.clientFile), sqlInteger(campaign.startedAt), sqlInteger(campaign.generation),
                campaign.state.rawValue, campaign.slicesExpected, campaign.slicesReported,
            ])
    }

    /// The campaign of a request that is repeated.
    private static func sameCampaign(
        _ request: CampaignRequest, _ kind: CampaignRecord.Kind, _ db: Database
    ) throws -> CampaignRecord? {
        guard let known = try campaign(request.id, db) else { return nil }
        guard known.app == request.app, known.kind == kind else {
            throw StoreError(.alreadyExists, "campaign \(request.id) is a \(known.kind.rawValue) of app \(known.app)")
        }
        return known
    }

    /// Of each kind, so that many resets of single client realms do not push out what terminations came to.
    static func forgetOldCampaigns(of app: String, _ limits: Limits, _ db: Database) throws {
        let old = try CampaignRecord.Kind.allCases.flatMap { kind in
            try String.fetchAll(
                db,
                sql: """
                    SELECT id FROM campaigns WHERE app = ? AND kind = ? AND state = 'closed'
                    ORDER BY number DESC LIMIT -1 OFFSET ?
                    """, arguments: [app, kind.rawValue, limits.closedCampaigns])
        }
        for id in old {
            for table in ["campaign_realms", "campaign_chunks"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE campaign = ?", arguments: [id])
            }
            try db.execute(sql: "DELETE FROM campaigns WHERE id = ?", arguments: [id])
        }
    }
}

extension CampaignRecord {
    init(row: Row) throws {
        guard let kind = Kind(rawValue: row["kind"]), let state = State(rawValue: row["state"]) else {
            throw StoreError(.corrupt, "a campaign's kind or state is not known")
        }
        self.init(
            id: row["id"], app: row["app"], kind: kind, reason: row["reason"], partition: row["partition"],
            clientFile: row.unsignedIfAny("client_file"), startedAt: row.unsigned("started_at"),
            generation: row.unsigned("generation"), state: state, slicesExpected: row["slices_expected"],
            slicesReported: row["slices_reported"], closedAt: row.unsignedIfAny("closed_at"))
    }
}
