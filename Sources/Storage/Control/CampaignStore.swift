/// Campaigns, the client realms they reached and their outcomes.
package protocol CampaignStore: Sendable {
    /// Changes campaigns and what belongs to them in one transaction; changes nothing if `change` throws.
    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value

    /// Campaigns that still have to be published, oldest first.
    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord]

    /// Newest first.
    /// - Parameter after: the id that the previous page ended with.
    func campaigns(
        _ filter: CampaignFilter, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary]

    /// A campaign with what its slices have reported, by their numbers; slices that have said nothing are left out.
    func campaign(_ id: String) async throws(StoreError) -> CampaignSummary?

    /// The client realms that a campaign has found, by partition and client file.
    func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm]

    /// What all campaigns that have found a client realm say of it, newest first.
    func clientRealmHistory(_ key: ClientRealmKey, limit: Int) async throws(StoreError) -> [CampaignClientRealm]

    /// The newest campaign of every app that has one; accounts are none.
    func newestCampaigns() async throws(StoreError) -> [CampaignSummary]
}

extension CampaignStore {
    /// Campaigns without the accounts, newest first.
    package func campaigns(app: String?, after: String?, limit: Int) async throws(StoreError) -> [CampaignSummary] {
        try await campaigns(CampaignFilter(app: app), after: after, limit: limit)
    }

    /// Returns client realms of all partitions and users that a campaign has found.
    package func clientRealms(
        campaign: String, outcome: OutcomeClass?, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await clientRealms(campaign: campaign, ClientRealmFilter(outcome: outcome), after: after, limit: limit)
    }
}
