package import SyncModel

/// How much is kept of what would otherwise grow for ever.
package struct CampaignLimits: Sendable {
    /// Closed campaigns of an app and kind beyond so many newer ones are forgotten, with their client realms.
    package var closedCampaigns = 100
    /// Notifications and outcomes of a known campaign that wait for a found report, which may never come.
    package var earlyEntries = 100_000
    /// Outcomes whose campaign is not known.
    package var parkedOutcomes = 10_000

    package init() {}
}

/// Campaigns, the client realms they reached and their outcomes.
package protocol CampaignStore: Sendable {
    var limits: CampaignLimits { get }

    /// Changes campaigns and what belongs to them in one transaction; changes nothing if `change` throws.
    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignRows) throws -> Value
    ) async throws(StoreError) -> Value

    /// Campaigns that still have to be published, oldest first.
    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord]

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
        app: String, partition: String, clientFile: FileIdent, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm]

    /// The newest campaign of every app that has one.
    func newestCampaigns() async throws(StoreError) -> [CampaignSummary]
}
