/// Apps, accounts and campaigns: everything that belongs to the cluster rather than to a slice.
package protocol ControlStore: AppStore, AccountStore, CampaignStore {
    func userCount(app: String) async throws(StoreError) -> Int
}
