/// The campaigns that are asked for.
package struct CampaignFilter: Sendable, Equatable {
    /// Only this app's; nil: those of all apps.
    package var app: String?
    /// True for accounts only, false for all other campaigns.
    package var accounts: Bool
    /// Only those that are not closed.
    package var isOpen: Bool

    package init(app: String? = nil, accounts: Bool = false, isOpen: Bool = false) {
        self.app = app
        self.accounts = accounts
        self.isOpen = isOpen
    }
}

/// The client realms of a campaign that are asked for. A property that is nil does not matter.
package struct ClientRealmFilter: Sendable, Equatable {
    package var outcome: OutcomeClass?
    package var partition: String?
    /// Finding a user goes through all of the campaign's client realms.
    package var user: String?

    package init(outcome: OutcomeClass? = nil, partition: String? = nil, user: String? = nil) {
        self.outcome = outcome
        self.partition = partition
        self.user = user
    }
}
