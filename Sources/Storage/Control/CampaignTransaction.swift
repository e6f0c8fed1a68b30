package import SyncModel

/// A client realm, whatever campaigns it belongs to.
package struct ClientRealmKey: Hashable, Sendable {
    package var realm: RealmName
    package var clientFile: FileIdent

    package init(realm: RealmName, clientFile: FileIdent) {
        self.realm = realm
        self.clientFile = clientFile
    }
}

/// A client realm's row in a campaign: what operators see of it, and what only the bookkeeping needs.
package struct CampaignEntry: Sendable, Equatable {
    package var app: String
    /// The slice that found the client realm.
    package var slice: SliceNumber?
    /// The reset counts as recovered only because nothing else was seen.
    package var isUnproven = false
    package var clientRealm: CampaignClientRealm

    package init(app: String, slice: SliceNumber? = nil, clientRealm: CampaignClientRealm) {
        self.app = app
        self.slice = slice
        self.clientRealm = clientRealm
    }

    package var key: ClientRealmKey {
        ClientRealmKey(
            realm: RealmName(app: app, partition: clientRealm.partition), clientFile: clientRealm.clientFile)
    }
}

/// The records that reports name, to be found in one call.
package struct CampaignLookup: Sendable {
    package var apps: Set<String> = []
    package var campaigns: Set<String> = []
    /// Client realms whose entries in all campaigns, and whose parked outcomes, are wanted.
    package var clientRealms: Set<ClientRealmKey> = []

    package init() {}
}

/// The findings of a lookup. What was named and does not exist is missing here.
package struct CampaignFindings: Sendable {
    package var apps: [String: AppRecord] = [:]
    package var campaigns: [String: CampaignRecord] = [:]
    /// The sync generation of each recorded campaign that was named, or that an entry found belongs to, and a number that is
    /// higher for campaigns that were recorded later.
    package var standings: [String: (number: Int64, generation: UInt64)] = [:]
    package var entries: [ClientRealmKey: [CampaignEntry]] = [:]
    /// The outcomes of client realms whose campaign is not known.
    package var parked: [ClientRealmKey: OutcomeReport] = [:]

    package init() {}
}

/// The changes of campaigns that are written in one call.
package struct CampaignChanges: Sendable {
    /// One part of a slice's found report has come.
    package struct Chunk: Hashable, Sendable {
        package var campaign: String
        package var slice: SliceNumber
        package var chunks: Int
        package var chunk: Int

        package init(campaign: String, slice: SliceNumber, chunks: Int, chunk: Int) {
            self.campaign = campaign
            self.slice = slice
            self.chunks = chunks
            self.chunk = chunk
        }
    }

    package var apps: [AppRecord] = []
    /// Campaigns that are new become the newest, in this order. Of others only generation, state, the slices that have reported and the
    /// time of closing are stored anew: the rest of a campaign never changes.
    package var campaigns: [CampaignRecord] = []
    package var chunks: Set<Chunk> = []
    package var entries: [CampaignEntry] = []
    /// Parked outcomes to remove; then those to park, each in the place of an earlier one of the same client realm.
    package var unparked: Set<ClientRealmKey> = []
    package var parked: [OutcomeReport] = []
    /// Entries for the audit log of what nobody has asked for by the admin API.
    package var audit: [AuditEntry] = []
    /// How many entries the audit log keeps, with these.
    package var auditKept = Int.max

    package init() {}
}

/// Campaigns as an engine keeps them, within one transaction. What the rows mean, the coordinator decides: it reads all that it
/// needs in one call and writes all that it has decided in another, so the number of calls does not grow with what is changed.
package protocol CampaignTransaction {
    func read(_ lookup: CampaignLookup) throws -> CampaignFindings
    func write(_ changes: CampaignChanges) throws
    /// How many slices have sent all parts of their found reports, by campaign.
    func slicesReported(to campaigns: Set<String>) throws -> [String: Int]
    /// Sets `foundAt` where entries of the campaigns have none.
    func markFound(_ campaigns: Set<String>, at: UInt64) throws
    /// The counts of the entries that are found, by campaign.
    func counts(of campaigns: Set<String>) throws -> [String: CampaignCounts]
    /// Open campaigns, published ones, that started before a time; the oldest first.
    func closable(startedBefore time: UInt64, limit: Int) throws -> [CampaignRecord]
    /// Has entries of a campaign that are found and pending end as unknown, at most `limit`; returns how many that were.
    func giveUpPending(of campaign: String, limit: Int, at now: UInt64) throws -> Int
    /// Removes closed campaigns with all that belongs to them, but for the newest of each kind of the app.
    func removeClosedCampaigns(ofApp app: String, beyond newest: Int) throws
    /// Removes the entries that were not found and changed longest ago, but for so many; returns how many that were.
    func removeUnfound(beyond most: Int) throws -> Int
    /// Removes the outcomes that were parked first, but for so many; returns how many that were.
    func removeParked(beyond most: Int) throws -> Int
}
