package import SyncModel

/// What the coordinator opens for a termination or reset: whom it reached, and how each client realm's reset ended.
package struct CampaignRecord: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case termination, reset }

    package enum State: String, Sendable, CaseIterable {
        /// Recorded; the message that carries it out may not have reached the broker yet.
        case publishing
        /// Published; not every slice has said which client realms it found.
        case counting
        /// All found; some resets have not ended.
        case running
        /// Every reset has ended. A later report can still change an outcome, or reopen the campaign.
        case closed
    }

    package var id: String
    package var app: String
    package var kind: Kind
    package var reason: String?
    /// Of a reset: the realm's partition.
    package var partition: String?
    /// Of a reset of one client realm: its client file ident.
    package var clientFile: FileIdent?
    /// Milliseconds of Unix time.
    package var startedAt: UInt64
    /// The sync generation that began with it.
    package var generation: UInt64
    package var state: State
    package var slicesExpected: Int
    /// Slices all of whose found reports have arrived.
    package var slicesReported: Int
    package var closedAt: UInt64?

    package init(
        id: String, app: String, kind: Kind, reason: String?, partition: String? = nil, clientFile: FileIdent? = nil,
        startedAt: UInt64, generation: UInt64, state: State = .publishing, slicesExpected: Int,
        slicesReported: Int = 0, closedAt: UInt64? = nil
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
    }
}

/// How many client realms a campaign found and how their resets stand. All from one transaction:
/// `found == recovered + discarded + manual + failed + superseded + pending`, always.
package struct CampaignCounts: Sendable, Equatable {
    package var found: Int
    /// Of those found, how many have been sent the client-reset error.
    package var notified: Int
    package var recovered: Int
    package var discarded: Int
    package var manual: Int
    package var failed: Int
    package var superseded: Int
    package var pending: Int
    /// Of those recovered, how many are so only because nothing else was seen: `OutcomeReport.isUnproven`.
    package var unproven: Int

    package init(
        notified: Int = 0, recovered: Int = 0, discarded: Int = 0, manual: Int = 0, failed: Int = 0,
        superseded: Int = 0, pending: Int = 0, unproven: Int = 0
    ) {
        found = recovered + discarded + manual + failed + superseded + pending
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

/// A campaign with its counts, read in one transaction.
package struct CampaignSummary: Sendable, Equatable {
    package var campaign: CampaignRecord
    package var counts: CampaignCounts

    package init(campaign: CampaignRecord, counts: CampaignCounts) {
        self.campaign = campaign
        self.counts = counts
    }
}

/// What one slice has reported to a campaign.
package struct CampaignSlice: Sendable, Equatable {
    package var slice: SliceNumber
    package var chunks: Int
    package var chunksReported: Int
    package var found: Int

    package init(slice: SliceNumber, chunks: Int, chunksReported: Int, found: Int) {
        self.slice = slice
        self.chunks = chunks
        self.chunksReported = chunksReported
        self.found = found
    }
}
