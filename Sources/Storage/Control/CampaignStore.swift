package import Messages

/// A report about a campaign, as the outcomes queue delivers it.
package enum CampaignReport: Sendable, Equatable {
    case found(FoundReport)
    case notified(NotifiedReport)
    case outcome(OutcomeReport)

    package var app: String {
        switch self {
        case .found(let report): report.app
        case .notified(let report): report.realm.app
        case .outcome(let report): report.realm.app
        }
    }
}

/// What a batch of reports did.
package struct CampaignEffects: Sendable, Equatable {
    package struct Rejection: Sendable, Equatable {
        /// Index in the batch.
        package var index: Int
        package var reason: String

        package init(index: Int, reason: String) {
            self.index = index
            self.reason = reason
        }
    }

    /// Campaigns nobody had recorded, opened from a slice's report.
    package var opened: [CampaignRecord] = []
    /// Apps whose sync generation was raised to a report's.
    package var raisedApps: [String] = []
    /// Campaigns that a report changed, as they are now.
    package var changed: [CampaignRecord] = []
    /// Outcomes whose campaign is not known yet; they wait for the slice's report.
    package var parked = 0
    /// Waiting outcomes dropped because too many wait.
    package var dropped = 0
    /// Reports that can never be applied.
    package var rejected: [Rejection] = []

    package init() {}
}

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

/// Campaigns, the client realms they reached and their outcomes.
package protocol CampaignStore: Sendable {
    /// Records a termination: the app's generation + 1, its sync state and the campaign (`publishing`), in one
    /// transaction. The same id again changes nothing and returns what was recorded.
    /// - Parameter enable: sync goes on at once with the new generation; else it stays off until it is enabled.
    /// - Throws: `notFound` for the app, `alreadyExists` if the id belongs to something else.
    func terminate(
        _ request: CampaignRequest, enable: Bool, slices: Int
    ) async throws(StoreError) -> (app: AppRecord, campaign: CampaignRecord)

    /// Records the reset of one realm's client realms, or of one of them (`publishing`).
    /// - Throws: as `terminate`.
    func startReset(
        _ request: CampaignRequest, partition: String, clientFile: UInt64?
    ) async throws(StoreError) -> CampaignRecord

    /// The campaign's message has reached the broker. Returns the campaign as it is now.
    /// - Throws: `notFound`.
    func campaignPublished(_ id: String, at: UInt64) async throws(StoreError) -> CampaignRecord

    /// Campaigns that still have to be published, oldest first.
    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord]

    /// Applies reports in one transaction. Order and repetition do not matter.
    /// - Parameter slices: how many slices a campaign that is opened from a report expects.
    func apply(
        _ reports: [CampaignReport], slices: Int, at: UInt64
    ) async throws(StoreError) -> CampaignEffects

    /// Newest first.
    /// - Parameter after: the id that the previous page ended with.
    func campaigns(app: String?, after: String?, limit: Int) async throws(StoreError) -> [CampaignSummary]

    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary?

    /// What each slice has reported, by number; slices that have said nothing are left out.
    func campaignSlices(_ id: String) async throws(StoreError) -> [CampaignSlice]

    /// By partition and client file.
    func clientRealms(
        campaign: String, outcome: OutcomeClass?, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm]

    /// What all campaigns say of one client realm, newest first.
    func clientRealmHistory(
        app: String, partition: String, clientFile: UInt64, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm]

    /// The newest campaign of every app that has one.
    func newestCampaigns() async throws(StoreError) -> [CampaignSummary]
}
