package import SyncModel

/// A client realm of a campaign, by the campaign's id, the realm's partition and the client file ident.
package struct CampaignEntryKey: Hashable, Sendable {
    package var campaign: String
    package var partition: String
    package var clientFile: FileIdent

    package init(campaign: String, partition: String, clientFile: FileIdent) {
        self.campaign = campaign
        self.partition = partition
        self.clientFile = clientFile
    }
}

/// What a campaign knows of one client realm. Without `foundAt` it counts nowhere: only a notification or an outcome has come.
package struct CampaignEntry: Sendable, Equatable {
    package var app: String
    /// Empty while nobody has said whose client realm it is.
    package var user: String
    package var slice: SliceNumber?
    /// All times in milliseconds of Unix time.
    package var lastSeen: UInt64
    package var foundAt: UInt64?
    package var notifiedAt: UInt64?
    /// The campaign that has had the client realm reset since.
    package var supersededBy: String?
    /// The report that decides the outcome; nil while there is none.
    package var report: OutcomeReport?
    package var updatedAt: UInt64

    package init(
        app: String, user: String, slice: SliceNumber? = nil, lastSeen: UInt64 = 0, foundAt: UInt64? = nil,
        notifiedAt: UInt64? = nil, supersededBy: String? = nil, report: OutcomeReport? = nil, updatedAt: UInt64
    ) {
        self.app = app
        self.user = user
        self.slice = slice
        self.lastSeen = lastSeen
        self.foundAt = foundAt
        self.notifiedAt = notifiedAt
        self.supersededBy = supersededBy
        self.report = report
        self.updatedAt = updatedAt
    }

    /// A report of how the reset ended counts even if it comes late: that another campaign followed says only that none may
    /// come.
    package var outcome: OutcomeClass {
        let reported = report.map { OutcomeClass($0.result) } ?? .pending
        return reported == .pending && supersededBy != nil ? .superseded : reported
    }
}

/// Campaigns as an engine keeps them, within one transaction: rows, and nothing of what they mean. The coordinator decides that.
package protocol CampaignRows {
    func app(_ id: String) throws -> AppRecord?
    func put(_ app: AppRecord) throws

    func campaign(_ id: String) throws -> CampaignRecord?
    /// Changes a campaign; one that is new becomes the newest.
    func put(_ campaign: CampaignRecord) throws
    /// The closed campaigns of one kind of an app but for the newest ones.
    func closedCampaigns(of app: String, _ kind: CampaignRecord.Kind, beyond newest: Int) throws -> [String]
    /// Removes a campaign with all that belongs to it.
    func removeCampaign(_ id: String) throws

    /// Notes that a slice has sent one of so many parts of its found report.
    func noteChunk(_ chunk: Int, of chunks: Int, from slice: SliceNumber, campaign: String) throws
    /// How many slices have sent all parts of their found reports.
    func slicesReported(to campaign: String) throws -> Int

    func entry(_ key: CampaignEntryKey) throws -> CampaignEntry?
    func put(_ entry: CampaignEntry, _ key: CampaignEntryKey) throws
    /// The entries of a client realm in all campaigns that are known, newest campaign first, with the campaigns' generations.
    func entries(
        app: String, partition: String, clientFile: FileIdent
    ) throws -> [(campaign: String, generation: UInt64, entry: CampaignEntry)]
    /// Sets `foundAt` where a campaign's entries have none.
    func markFound(_ campaign: String, at: UInt64) throws
    /// Of the entries that are found.
    func counts(of campaign: String) throws -> CampaignCounts
    /// Removes the entries that were not found and changed longest ago, but for so many; returns how many that were.
    func dropUnfound(beyond most: Int) throws -> Int

    /// The outcome of a client realm whose campaign is not known.
    func parkedOutcome(app: String, partition: String, clientFile: FileIdent) throws -> OutcomeReport?
    /// Parks an outcome in the place of an earlier one of the same client realm.
    func park(_ report: OutcomeReport) throws
    func removeParkedOutcome(app: String, partition: String, clientFile: FileIdent) throws
    /// Removes the outcomes that were parked first, but for so many; returns how many that were.
    func dropParkedOutcomes(beyond most: Int) throws -> Int
}
