package import SyncModel

/// What one commit changes. The parts take effect in the order in which they stand here.
package struct SliceBatch: Sendable {
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
        package var version: ServerVersion
        /// Empty if the merge left nothing of the version; that is not the same as no reciprocal.
        package var changeset: [UInt8]

        package init(owner: ClientFileKey, version: ServerVersion, changeset: [UInt8]) {
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

    /// The versions of a history to delete: those up to and including one.
    package struct HistoryTrim: Sendable, Equatable {
        package var key: HistoryKey
        package var through: ServerVersion

        package init(key: HistoryKey, through: ServerVersion) {
            self.key = key
            self.through = through
        }
    }

    /// The reciprocals of a client file to delete: those of the versions up to and including one.
    package struct ReciprocalTrim: Sendable, Equatable {
        package var owner: ClientFileKey
        package var through: ServerVersion

        package init(owner: ClientFileKey, through: ServerVersion) {
            self.owner = owner
            self.through = through
        }
    }

    /// New generations of apps. Every client file of an older generation that is live, or has yet to reset for an earlier
    /// campaign, must reset for the new generation's campaign, if there is one. A generation that is there already stays.
    package var terminations: [AppGenerationRecord] = []
    /// The first reason of a campaign stays.
    package var reasons: [Reason] = []
    package var historyTrims: [HistoryTrim] = []
    /// Realms that lose the reciprocals of all their client files.
    package var reciprocalResets: [RealmID] = []
    /// Headings of realms. A heading of the same generation does not set `historyBase` back; name and compatibility of a realm
    /// never change.
    package var realms: [RealmRecord] = []
    /// Like `historyTrims`, of realms whose history begins after the version from then on.
    package var compactions: [HistoryTrim] = []
    package var bases: [BaseRecord] = []
    /// Bases to forget; their changesets are deleted before, by `historyTrims`.
    package var baseRemovals: [BaseRecord] = []
    package var tableRemovals: [TableRemoval] = []
    package var objects: [ObjectChange] = []
    package var history: [Appended] = []
    /// Each replaces the digests that end within it. Trimming a history also deletes the digests that end before its new
    /// beginning.
    package var historyDigests: [HistoryDigest] = []
    package var clientFiles: [ClientFileRecord] = []
    package var reciprocals: [Reciprocal] = []
    package var reciprocalTrims: [ReciprocalTrim] = []
    package var resetCases: [ResetCaseRecord] = []
    /// Ids of messages whose effect must not be repeated; the last `rememberedMessages` are remembered.
    package var seenMessages: [String] = []
    /// Messages to publish after the commit. An id that the outbox holds already changes nothing.
    package var outbox: [OutboxRecord] = []
    /// Ids of messages that have arrived and leave the outbox.
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
