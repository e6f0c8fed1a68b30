package import SyncModel

/// One client realm of a campaign and how its reset stands.
package struct CampaignClientRealm: Codable, Sendable, Equatable {
    package var campaign: String
    package var partition: String
    package var clientFile: FileIdent
    /// Empty while no report has named the user.
    package var user: String
    /// When its slice had last seen it before the campaign found it. All times in milliseconds of Unix time.
    package var lastSeen: UInt64
    /// Nil while only a notification or an outcome has come: then the client realm counts nowhere.
    package var foundAt: UInt64?
    /// When it was sent the client-reset error.
    package var notifiedAt: UInt64?
    package var outcome: OutcomeClass
    /// The campaign that has had the client realm reset since; a report of how this reset ended counts all the same.
    package var supersededBy: String?
    /// Why it had to reset, in an account, whose client realms have reasons of their own.
    package var reason: String?
    /// The report that decides the outcome; nil while there is none.
    package var report: OutcomeReport?
    package var updatedAt: UInt64

    /// Characters of `reason` that are kept.
    package static let maxReason = 300

    package init(
        campaign: String, partition: String, clientFile: FileIdent, user: String, lastSeen: UInt64 = 0,
        foundAt: UInt64? = nil, notifiedAt: UInt64? = nil, outcome: OutcomeClass = .pending,
        supersededBy: String? = nil, reason: String? = nil, report: OutcomeReport? = nil, updatedAt: UInt64
    ) {
        self.campaign = campaign
        self.partition = partition
        self.clientFile = clientFile
        self.user = user
        self.lastSeen = lastSeen
        self.foundAt = foundAt
        self.notifiedAt = notifiedAt
        self.outcome = outcome
        self.supersededBy = supersededBy
        self.reason = reason
        self.report = report
        self.updatedAt = updatedAt
    }
}

/// How a client realm's reset ended, as campaigns count it (docs/resets.md, "Outcomes").
package enum OutcomeClass: String, Codable, Sendable, CaseIterable {
    case pending, recovered, discarded, manual, failed
    /// Another campaign had the client realm reset once more before this one knew how its reset ended.
    case superseded
    /// Nobody has said how the reset ended, or whether it began, until its campaign was closed for its age. What is said later
    /// still counts.
    case unknown
}

/// Where a page of client realms ended.
package struct ClientRealmCursor: Sendable, Equatable {
    package var partition: String
    package var clientFile: FileIdent

    package init(partition: String, clientFile: FileIdent) {
        self.partition = partition
        self.clientFile = clientFile
    }
}
