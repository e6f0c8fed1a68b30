/// What one commit changes. The parts take effect in the order in which they stand here.
package struct SliceBatch: Sendable {
    /// An app's new generation: every client file of an older one that is live, or has yet to reset for an earlier
    /// campaign, must reset for this one.
    package struct Termination: Sendable, Equatable {
        package var record: AppGenerationRecord
        package init(_ record: AppGenerationRecord) { self.record = record }
    }

    /// Why a campaign makes client realms reset, in the operator's words.
    package struct Reason: Sendable, Equatable {
        package var campaign: String
        package var text: String

        package init(campaign: String, text: String) {
            self.campaign = campaign
            self.text = text
        }
    }

    package struct Reciprocal: Sendable, Equatable {
        package var owner: ClientFileKey
        package var version: UInt64
        /// No bytes mean present and empty.
        package var changeset: [UInt8]

        package init(owner: ClientFileKey, version: UInt64, changeset: [UInt8]) {
            self.owner = owner
            self.version = version
            self.changeset = changeset
        }
    }

    package struct ObjectChange: Sendable, Equatable {
        package var realm: RealmID
        package var row: ObjectRow
        /// Nil removes the object.
        package var body: [UInt8]?

        package init(realm: RealmID, row: ObjectRow, body: [UInt8]?) {
            self.realm = realm
            self.row = row
            self.body = body
        }
    }

    package struct TableRemoval: Sendable, Equatable {
        package var realm: RealmID
        package var table: UInt32

        package init(realm: RealmID, table: UInt32) {
            self.realm = realm
            self.table = table
        }
    }

    package struct Appended: Sendable, Equatable {
        package var key: HistoryKey
        package var record: HistoryRecord

        package init(key: HistoryKey, record: HistoryRecord) {
            self.key = key
            self.record = record
        }
    }

    /// Histories to delete up to and including a version.
    package struct HistoryTrim: Sendable, Equatable {
        package var key: HistoryKey
        package var through: UInt64

        package init(key: HistoryKey, through: UInt64) {
            self.key = key
            self.through = through
        }
    }

    /// Versions of a realm's history to delete, up to and including one; it begins after that from then on.
    package struct Compaction: Sendable, Equatable {
        package var key: HistoryKey
        package var through: UInt64

        package init(key: HistoryKey, through: UInt64) {
            self.key = key
            self.through = through
        }
    }

    /// Reciprocals of a client file to delete up to and including a version.
    package struct ReciprocalTrim: Sendable, Equatable {
        package var owner: ClientFileKey
        package var through: UInt64

        package init(owner: ClientFileKey, through: UInt64) {
            self.owner = owner
            self.through = through
        }
    }

    package var terminations: [Termination] = []
    /// The first reason of a campaign stays.
    package var reasons: [Reason] = []
    package var historyTrims: [HistoryTrim] = []
    /// Realms whose reciprocals of all client files go.
    package var reciprocalResets: [RealmID] = []
    /// A realm's heading does not set its history's beginning back, unless it is of another generation.
    package var realms: [RealmRecord] = []
    package var compactions: [Compaction] = []
    package var bases: [BaseRecord] = []
    /// Bases whose changesets are all gone.
    package var baseRemovals: [BaseRecord] = []
    package var tableRemovals: [TableRemoval] = []
    package var objects: [ObjectChange] = []
    package var history: [Appended] = []
    /// Replaces one that begins at the same version. Trimming a history trims the digests that end before it, too.
    package var historyDigests: [HistoryDigest] = []
    package var clientFiles: [ClientFileRecord] = []
    package var reciprocals: [Reciprocal] = []
    package var reciprocalTrims: [ReciprocalTrim] = []
    package var resetCases: [ResetCaseRecord] = []
    /// Ids of messages whose effect must not be repeated; the store remembers the last `SliceBatch.rememberedMessages`.
    package var seenMessages: [String] = []
    /// Messages to publish after the commit, and the ids of those that have arrived.
    package var outbox: [OutboxRecord] = []
    package var outboxRemovals: [String] = []

    package static let rememberedMessages = 20_000

    package init() {}

    package var isEmpty: Bool {
        terminations.isEmpty && reasons.isEmpty && historyTrims.isEmpty && reciprocalResets.isEmpty && realms.isEmpty
            && tableRemovals.isEmpty && objects.isEmpty && history.isEmpty && historyDigests.isEmpty
            && clientFiles.isEmpty && reciprocals.isEmpty && reciprocalTrims.isEmpty && resetCases.isEmpty
            && seenMessages.isEmpty && compactions.isEmpty && bases.isEmpty && baseRemovals.isEmpty
            && outbox.isEmpty && outboxRemovals.isEmpty
    }
}
