/// How one client realm's reset goes or went: docs/resets.md, "Outcomes", from the client itself or inferred by its
/// owner.
///
/// Keyed by (campaign, client realm); `attempt` tells attempts apart, and a later report of one updates the earlier.
package struct OutcomeReport: Codable, Sendable, Equatable {
    package enum Result: String, Codable, Sendable, CaseIterable {
        case recovered, discarded, manualPending, manualHandled, manualAtLaunch, failed, interrupted, notNeeded
    }

    package enum Evidence: String, Codable, Sendable { case client, inferred }

    package struct Changesets: Codable, Sendable, Equatable {
        package var unsynced: Int
        package var recovered: Int
        package var emptied: Int
        package var discarded: Int

        package init(unsynced: Int = 0, recovered: Int = 0, emptied: Int = 0, discarded: Int = 0) {
            self.unsynced = unsynced
            self.recovered = recovered
            self.emptied = emptied
            self.discarded = discarded
        }
    }

    package struct Failure: Codable, Sendable, Equatable {
        package var name: String
        package var message: String

        package init(name: String, message: String) {
            self.name = name
            self.message = message
        }
    }

    /// Nil from a client, which does not know it: the coordinator finds it by (app, realm, `identOld`).
    package var campaign: String?
    package var attempt: String
    package var realm: RealmName
    package var user: String
    package var identOld: FileIdent
    package var identNew: FileIdent?
    package var modeRequested: String?
    package var modeUsed: String?
    package var result: Result
    /// The campaign that made the client realm reset once more before it could be known how this reset ends; `result` is
    /// `interrupted` then. Only in a slice's reports; absent from a process that does not know it yet.
    package var supersededBy: String?
    package var changesets: Changesets?
    /// The name (never the path) of the backup file that a manual reset reserved or made.
    package var backupFile: String?
    package var error: Failure?
    package var evidence: Evidence
    /// 0 ... 1; 1 for a client's own report.
    package var confidence: Double
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(
        campaign: String?, attempt: String, realm: RealmName, user: String, identOld: FileIdent, identNew: FileIdent?,
        modeRequested: String?, modeUsed: String?, result: Result, supersededBy: String? = nil,
        changesets: Changesets?, backupFile: String?, error: Failure?, evidence: Evidence, confidence: Double,
        at: UInt64
    ) {
        self.campaign = campaign
        self.attempt = attempt
        self.realm = realm
        self.user = user
        self.identOld = identOld
        self.identNew = identNew
        self.modeRequested = modeRequested
        self.modeUsed = modeUsed
        self.result = result
        self.supersededBy = supersededBy
        self.changesets = changesets
        self.backupFile = backupFile
        self.error = error
        self.evidence = evidence
        self.confidence = confidence
        self.at = at
    }
}
