package import SyncModel

/// A control store whose parts are types of their own, one for each thing that is kept. It passes on what is asked of it.
package protocol DividedControlStore: ControlStore {
    var ofCluster: any ClusterStore { get }
    var ofApps: any AppStore { get }
    var ofAccounts: any AccountStore { get }
    var ofAdmins: any AdminStore { get }
    var ofCampaigns: any CampaignStore { get }
    var ofDeletions: any AppDeletionStore { get }
}

// MARK: - The cluster

extension DividedControlStore {
    package func cluster() async throws(StoreError) -> ClusterRecord? {
        try await ofCluster.cluster()
    }

    package func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try await ofCluster.cluster(orCreate: new)
    }

    package func updateCluster(_ change: @escaping @Sendable (inout ClusterRecord) -> Void) async throws(StoreError)
        -> ClusterRecord
    {
        try await ofCluster.updateCluster(change)
    }

    package func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try await ofCluster.sliceCount(orCreate: count)
    }

    package func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await ofCluster.slicesMade()
    }

    package func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try await ofCluster.recordSlice(slice, epoch: epoch)
    }

    package func forgetSlice(_ slice: SliceNumber) async throws(StoreError) {
        try await ofCluster.forgetSlice(slice)
    }
}

// MARK: - Apps

extension DividedControlStore {
    package func app(_ id: String) async throws(StoreError) -> AppRecord? {
        try await ofApps.app(id)
    }

    package func apps() async throws(StoreError) -> [AppRecord] {
        try await ofApps.apps()
    }

    package func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try await ofApps.insert(app, rules: rules)
    }

    package func updateApp(_ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void)
        async throws(StoreError) -> AppRecord
    {
        try await ofApps.updateApp(id, change)
    }

    package func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] {
        try await ofApps.schema(ofApp: app)
    }

    package func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement]
    {
        try await ofApps.schema(ofApp: app, among: elements)
    }

    package func extendSchema(ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?)
        async throws(StoreError)
    {
        try await ofApps.extendSchema(ofApp: app, with: elements, by: author)
    }

    package func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int {
        try await ofApps.reduceSchema(ofApp: app, by: elements)
    }

    package func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord? {
        try await ofApps.rules(app: app, version: version)
    }

    package func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading] {
        try await ofApps.rulesHistory(app: app, after: after, limit: limit)
    }

    package func replaceRules(app: String, expecting version: UInt64, with change: RulesChange) async throws(StoreError)
        -> RulesRecord
    {
        try await ofApps.replaceRules(app: app, expecting: version, with: change)
    }
}

// MARK: - Admins

extension DividedControlStore {
    package func insert(_ token: AdminTokenRecord) async throws(StoreError) {
        try await ofAdmins.insert(token)
    }

    package func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord? {
        try await ofAdmins.adminToken(digest: digest)
    }

    package func adminTokens() async throws(StoreError) -> [AdminTokenRecord] {
        try await ofAdmins.adminTokens()
    }

    package func removeAdminToken(_ name: String) async throws(StoreError) {
        try await ofAdmins.removeAdminToken(name)
    }

    package func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try await ofAdmins.beginAudit(entry, keeping: most)
    }

    package func endAudit(_ number: Int64, status: Int, details: String?) async throws(StoreError) {
        try await ofAdmins.endAudit(number, status: status, details: details)
    }

    package func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await ofAdmins.auditEntries(before: before, limit: limit)
    }
}

// MARK: - Campaigns

extension DividedControlStore {
    package func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await ofCampaigns.changeCampaigns(change)
    }

    package func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await ofCampaigns.unpublishedCampaigns()
    }

    package func campaigns(_ filter: CampaignFilter, after: String?, limit: Int) async throws(StoreError)
        -> [CampaignSummary]
    {
        try await ofCampaigns.campaigns(filter, after: after, limit: limit)
    }

    package func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        try await ofCampaigns.campaign(id)
    }

    package func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        try await ofCampaigns.clientRealms(campaign: campaign, filter, after: after, limit: limit)
    }

    package func clientRealmHistory(_ key: ClientRealmKey, limit: Int) async throws(StoreError) -> [CampaignClientRealm]
    {
        try await ofCampaigns.clientRealmHistory(key, limit: limit)
    }

    package func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        try await ofCampaigns.newestCampaigns()
    }
}

// MARK: - Deletions

extension DividedControlStore {
    package func deleteApp(_ deletion: AppDeletionRecord) async throws(StoreError) -> AppDeletionRecord {
        try await ofDeletions.deleteApp(deletion)
    }

    package func deletion(ofApp app: String) async throws(StoreError) -> AppDeletionRecord? {
        try await ofDeletions.deletion(ofApp: app)
    }

    package func deletions(limit: Int) async throws(StoreError) -> [AppDeletionRecord] {
        try await ofDeletions.deletions(limit: limit)
    }

    package func unfinishedDeletions() async throws(StoreError) -> [AppDeletionRecord] {
        try await ofDeletions.unfinishedDeletions()
    }

    package func note(_ progress: SliceErasureProgress) async throws(StoreError) {
        try await ofDeletions.note(progress)
    }

    package func removeRows(ofDeletedApp app: String, limit: Int) async throws(StoreError) -> Int {
        try await ofDeletions.removeRows(ofDeletedApp: app, limit: limit)
    }

    package func finishDeletion(ofApp app: String, at: UInt64) async throws(StoreError) {
        try await ofDeletions.finishDeletion(ofApp: app, at: at)
    }
}
