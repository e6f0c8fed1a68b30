package import SyncModel

/// The coordinator's record of a termination or reset: whom it reached, and how each client realm's reset ended.
package struct CampaignRecord: Codable, Sendable, Equatable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case termination, reset
        /// A realm was taken away; its clients reset onto an empty one.
        case erasure
        /// Client realms that had to reset without anybody having asked for it, those of a day together.
        case account
    }

    package enum State: String, Codable, Sendable, CaseIterable {
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
    /// The realm's partition; only of a reset or an erasure.
    package var partition: String?
    /// The client file ident; only of a reset of one client realm.
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
/// `found == recovered + discarded + manual + failed + superseded + unknown + pending`, always.
package struct CampaignCounts: Codable, Sendable, Equatable {
    package var found: Int
    /// The number of found client realms that have been sent the client-reset error.
    package var notified: Int
    package var recovered: Int
    package var discarded: Int
    package var manual: Int
    package var failed: Int
    /// Another campaign had them reset before this one knew how their reset ended.
    package var superseded: Int
    /// Nobody had said how their reset ended when the campaign was closed for its age.
    package var unknown: Int
    package var pending: Int
    /// The number of recovered client realms that have sent nothing that they wrote before the reset, and do not
    /// report: they had nothing unsynced, or discarded it.
    package var unproven: Int

    package init(
        notified: Int = 0, recovered: Int = 0, discarded: Int = 0, manual: Int = 0, failed: Int = 0,
        superseded: Int = 0, unknown: Int = 0, pending: Int = 0, unproven: Int = 0
    ) {
        found = recovered + discarded + manual + failed + superseded + unknown + pending
        self.notified = notified
        self.recovered = recovered
        self.discarded = discarded
        self.manual = manual
        self.failed = failed
        self.superseded = superseded
        self.unknown = unknown
        self.pending = pending
        self.unproven = unproven
    }

    /// A coordinator of an earlier version counts neither `superseded` nor `unknown` nor `unproven`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        found = try container.decode(Int.self, forKey: .found)
        notified = try container.decode(Int.self, forKey: .notified)
        recovered = try container.decode(Int.self, forKey: .recovered)
        discarded = try container.decode(Int.self, forKey: .discarded)
        manual = try container.decode(Int.self, forKey: .manual)
        failed = try container.decode(Int.self, forKey: .failed)
        superseded = try container.decodeIfPresent(Int.self, forKey: .superseded) ?? 0
        unknown = try container.decodeIfPresent(Int.self, forKey: .unknown) ?? 0
        pending = try container.decode(Int.self, forKey: .pending)
        unproven = try container.decodeIfPresent(Int.self, forKey: .unproven) ?? 0
    }

    package mutating func add(_ clientRealms: Int, _ outcome: OutcomeClass, notified: Int, unproven: Int) {
        found += clientRealms
        self.notified += notified
        self.unproven += unproven
        switch outcome {
        case .recovered: recovered += clientRealms
        case .discarded: discarded += clientRealms
        case .manual: manual += clientRealms
        case .failed: failed += clientRealms
        case .superseded: superseded += clientRealms
        case .unknown: unknown += clientRealms
        case .pending: pending += clientRealms
        }
    }
}

/// A termination or reset: whom it reached, and how each client realm's reset stands. Read in one transaction.
package struct CampaignSummary: Codable, Sendable, Equatable {
    package var campaign: CampaignRecord
    package var counts: CampaignCounts
    /// The reports of the slices; only where one campaign is asked for.
    package var slices: [CampaignSlice]?

    package init(campaign: CampaignRecord, counts: CampaignCounts, slices: [CampaignSlice]? = nil) {
        self.campaign = campaign
        self.counts = counts
        self.slices = slices
    }

    private enum Key: CodingKey { case counts, slices }

    // The campaign's keys stand beside the counts.

    package init(from decoder: any Decoder) throws {
        campaign = try CampaignRecord(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        counts = try container.decode(CampaignCounts.self, forKey: .counts)
        slices = try container.decodeIfPresent([CampaignSlice].self, forKey: .slices)
    }

    package func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(counts, forKey: .counts)
        try container.encodeIfPresent(slices, forKey: .slices)
    }
}

/// The report of one slice to a campaign.
package struct CampaignSlice: Codable, Sendable, Equatable {
    package var slice: SliceNumber
    /// The number of messages in which the slice reports, and how many of them have come.
    package var chunks: Int
    package var chunksReported: Int
    /// The client realms that they named.
    package var found: Int

    package init(slice: SliceNumber, chunks: Int, chunksReported: Int, found: Int) {
        self.slice = slice
        self.chunks = chunks
        self.chunksReported = chunksReported
        self.found = found
    }
}
