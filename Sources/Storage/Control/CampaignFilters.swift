/// The campaigns that are asked for.
package struct CampaignFilter: Sendable, Equatable {
    /// Only this app's; nil: those of all apps.
    package var app: String?
    /// True for accounts only, false for all other campaigns.
    package var accounts: Bool
    /// Only those that are not closed.
    package var isOpen: Bool
    /// Only those whose id or reason contains this; the case of ASCII letters does not matter.
    package var search: String?

    package init(app: String? = nil, accounts: Bool = false, isOpen: Bool = false, search: String? = nil) {
        self.app = app
        self.accounts = accounts
        self.isOpen = isOpen
        self.search = search
    }

    /// The search as a pattern of SQL's LIKE with `\` before what the pattern takes for itself; nil: everything.
    package var pattern: String? {
        search.map { text in
            let escaped = Self.folded(text).map { "\\%_".contains($0) ? "\\\($0)" : String($0) }.joined()
            return "%\(escaped)%"
        }
    }

    /// The text as the databases' `lower` has it, which knows ASCII alone.
    private static func folded(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
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
