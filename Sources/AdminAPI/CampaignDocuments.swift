package import SyncModel

/// The body that terminates an app's sync.
package struct TerminationRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["reason", "enable", "campaign"]

    /// For the campaign and the clients.
    package var reason: String?
    /// Sync goes on at once with the new generation, so that clients can reset; true if absent.
    package var enable: Bool?
    /// The campaign's id, made up if absent: the same one again changes nothing.
    package var campaign: String?

    package init(reason: String? = nil, enable: Bool? = nil, campaign: String? = nil) {
        self.reason = reason
        self.enable = enable
        self.campaign = campaign
    }
}

/// The body that makes the client realms of one realm, or one of them, reset.
package struct ResetRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["partition", "clientFile", "reason", "campaign"]

    /// The partition value: a word, or extended JSON.
    package var partition: String
    /// The client file's ident, from 2 on; all of the realm's if absent.
    package var clientFile: FileIdent?
    package var reason: String?
    package var campaign: String?

    package init(partition: String, clientFile: FileIdent? = nil, reason: String? = nil, campaign: String? = nil) {
        self.partition = partition
        self.clientFile = clientFile
        self.reason = reason
        self.campaign = campaign
    }
}

/// A termination or reset: whom it reached, and how each client realm's reset stands.
package struct CampaignDocument: Codable, Sendable, Equatable {
    /// `found == recovered + discarded + manual + failed + superseded + pending`, always.
    package struct Counts: Codable, Sendable, Equatable {
        package var found: Int
        /// Of those found, how many have been sent the client-reset error.
        package var notified: Int
        package var recovered: Int
        package var discarded: Int
        package var manual: Int
        package var failed: Int
        /// Another campaign had them reset before this one knew how their reset ended.
        package var superseded: Int
        package var pending: Int
        /// Of those recovered, how many have sent nothing that they wrote before the reset, and do not report: they had
        /// nothing unsynced, or discarded it.
        package var unproven: Int

        package init(
            found: Int, notified: Int, recovered: Int, discarded: Int, manual: Int, failed: Int, superseded: Int,
            pending: Int, unproven: Int
        ) {
            self.found = found
            self.notified = notified
            self.recovered = recovered
            self.discarded = discarded
            self.manual = manual
            self.failed = failed
            self.superseded = superseded
            self.pending = pending
            self.unproven = unproven
        }
    }

    /// What one slice has reported.
    package struct Slice: Codable, Sendable, Equatable {
        package var slice: SliceNumber
        /// In how many messages it reports, and how many of them have come.
        package var chunks: Int
        package var chunksReported: Int
        /// Client realms that they named.
        package var found: Int

        package init(slice: SliceNumber, chunks: Int, chunksReported: Int, found: Int) {
            self.slice = slice
            self.chunks = chunks
            self.chunksReported = chunksReported
            self.found = found
        }
    }

    package var id: String
    package var app: String
    /// `termination` or `reset`.
    package var kind: String
    package var reason: String?
    /// Of a reset: the realm, and the client realm if it is one.
    package var partition: String?
    package var clientFile: FileIdent?
    /// Milliseconds of Unix time.
    package var startedAt: UInt64
    /// The sync generation that began with it.
    package var generation: UInt64
    /// `publishing`, `counting`, `running` or `closed`.
    package var state: String
    /// How many slices have to say, and have said, which client realms they found.
    package var slicesExpected: Int
    package var slicesReported: Int
    /// Set as long as it is closed.
    package var closedAt: UInt64?
    package var counts: Counts
    /// Only where one campaign is asked for.
    package var slices: [Slice]?

    package init(
        id: String, app: String, kind: String, reason: String?, partition: String?, clientFile: FileIdent?,
        startedAt: UInt64, generation: UInt64, state: String, slicesExpected: Int, slicesReported: Int,
        closedAt: UInt64?, counts: Counts, slices: [Slice]? = nil
    ) {
        self.id = id
        self.app = app
        self.kind = kind
        self.reason = reason
        self.partition = partition
        self.clientFile = clientFile
        self.startedAt = startedAt
        self.generation = generation
        self.state = state
        self.slicesExpected = slicesExpected
        self.slicesReported = slicesReported
        self.closedAt = closedAt
        self.counts = counts
        self.slices = slices
    }

    package var isClosed: Bool { state == "closed" }
}

/// A page of campaigns, newest first.
package struct CampaignList: Codable, Sendable, Equatable {
    package var campaigns: [CampaignDocument]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(campaigns: [CampaignDocument], next: String?) {
        self.campaigns = campaigns
        self.next = next
    }
}

/// One client realm of a campaign, and how its reset stands.
package struct ClientRealmDocument: Codable, Sendable, Equatable {
    package var campaign: String
    package var partition: String
    package var clientFile: FileIdent
    package var user: String
    /// When its slice had last seen it before the campaign found it. All times in milliseconds of Unix time.
    package var lastSeen: UInt64
    package var foundAt: UInt64
    /// When it was sent the client-reset error.
    package var notifiedAt: UInt64?
    /// `pending`, `recovered`, `discarded`, `manual`, `failed` or `superseded`.
    package var outcome: String
    /// The campaign that has had it reset since.
    package var supersededBy: String?
    /// The report that decides the outcome.
    package var report: OutcomeReport?
    package var updatedAt: UInt64

    package init(
        campaign: String, partition: String, clientFile: FileIdent, user: String, lastSeen: UInt64, foundAt: UInt64,
        notifiedAt: UInt64?, outcome: String, supersededBy: String?, report: OutcomeReport?, updatedAt: UInt64
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
        self.report = report
        self.updatedAt = updatedAt
    }
}

/// A page of client realms.
package struct ClientRealmList: Codable, Sendable, Equatable {
    package var clientRealms: [ClientRealmDocument]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(clientRealms: [ClientRealmDocument], next: String? = nil) {
        self.clientRealms = clientRealms
        self.next = next
    }
}
