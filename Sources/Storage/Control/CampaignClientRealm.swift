package import SyncModel

/// One client realm of a campaign and how its reset stands.
package struct CampaignClientRealm: Sendable, Equatable {
    package var campaign: String
    package var app: String
    package var partition: String
    package var clientFile: FileIdent
    package var user: String
    /// All times in milliseconds of Unix time.
    package var lastSeen: UInt64
    package var foundAt: UInt64
    package var notifiedAt: UInt64?
    package var outcome: OutcomeClass
    /// The campaign that has had the client realm reset since; a report of how this reset ended counts all the same.
    package var supersededBy: String?
    /// The report that decides the outcome; nil while there is none.
    package var report: OutcomeReport?
    package var updatedAt: UInt64

    package init(
        campaign: String, app: String, partition: String, clientFile: FileIdent, user: String, lastSeen: UInt64,
        foundAt: UInt64, notifiedAt: UInt64?, outcome: OutcomeClass, supersededBy: String? = nil,
        report: OutcomeReport?, updatedAt: UInt64
    ) {
        self.campaign = campaign
        self.app = app
        self.partition = partition
        self.clientFile = clientFile
        self.user = user
        self.lastSeen = lastSeen
        self.foundAt = foundAt
        self.notifiedAt = notifiedAt
        self.outcome = outcome
        self.supersededBy = supersededBy
        self.report = report
        self.updatedAt = updatedAt
    }
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
