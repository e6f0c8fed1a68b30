/// Apps with their rules, accounts and campaigns: everything that belongs to the cluster rather than to a slice.
package protocol ControlStore: ClusterStore, AppStore, AccountStore, AdminStore, CampaignStore, AppDeletionStore {}
