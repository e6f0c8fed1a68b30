package import SyncModel

/// The changes of one commit. The parts take effect in the order in which they stand here.
package struct SliceBatch: Sendable {
    /// New generations of apps. Every client file of an older generation that is live, or has yet to reset for an earlier
    /// campaign, must reset for the new generation's campaign, if there is one. A generation that is there already stays.
    /// One whose campaign has `terminationSteps` in the same batch marks no client file itself.
    package var terminations: [AppGenerationRecord] = []
    /// How far terminations are that go in steps. There is at most one for an app.
    package var terminationSteps: [TerminationSteps] = []
    /// Campaigns of terminations whose steps are all done: how far they were is forgotten.
    package var terminationStepsDone: [String] = []
    /// The reasons why client realms must reset, in the operator's words, by campaign. A campaign's first reason stays,
    /// until another campaign's reason comes and the campaign is over: none of its client files has yet to reset, and
    /// no app's latest generation began with it.
    package var reasons: [String: String] = [:]
    /// The version up to and including which all versions of a history are deleted, by history.
    package var historyTrims: [HistoryKey: ServerVersion] = [:]
    /// Realms that are erased, or how far that has come. The heading of each goes: no realm has its name then.
    package var erasures: [ErasureRecord] = []
    /// Erasures to forget, by the realm's number.
    package var erasureRemovals: [RealmID] = []
    /// Apps of which everything goes, or how far that has come.
    package var appErasures: [AppErasureRecord] = []
    /// Apps of which nothing is left but generations and held resets: these go, too.
    package var appRemovals: [String] = []
    /// Realms that lose the reciprocals of all their client files.
    package var reciprocalResets: [RealmID] = []
    /// Headings of realms. A heading of the same generation does not set `historyBase` back; name and compatibility of a realm
    /// never change.
    package var realms: [RealmRecord] = []
    /// The same as `historyTrims`, of realms whose history begins after the version from then on.
    package var compactions: [HistoryKey: ServerVersion] = [:]
    package var bases: [BaseRecord] = []
    /// Bases to forget; their changesets are deleted before, by `historyTrims`.
    package var baseRemovals: [BaseRecord] = []
    /// Tables whose objects are all removed, with their entries in indexes.
    package var tableRemovals: [RealmID: Set<UInt32>] = [:]
    package var objectRemovals: [RealmID: Set<ObjectRow>] = [:]
    package var objects: [RealmID: [ObjectRow: [UInt8]]] = [:]
    /// Entries of indexes that go, as far as they are there, and that come, as far as they are not. An object's entries do not go with it.
    package var indexRemovals: [RealmID: Set<IndexEntry>] = [:]
    package var indexEntries: [RealmID: Set<IndexEntry>] = [:]
    /// New versions, in order.
    package var history: [HistoryKey: [HistoryRecord]] = [:]
    /// Each digest replaces those that end within the stretch that it covers. Trimming a history also deletes the digests that
    /// end before its new beginning.
    package var historyDigests: [HistoryDigest] = []
    package var clientFiles: [ClientFileRecord] = []
    /// Rows of client files that go, with their reciprocals and their reset cases.
    package var clientFileRemovals: [ClientFileKey] = []
    /// The reciprocals by client file and version. A reciprocal is empty if the merge left nothing of the version; that
    /// is not the same as no reciprocal.
    package var reciprocals: [ClientFileKey: [ServerVersion: [UInt8]]] = [:]
    /// The version up to and including which a client file's reciprocals are deleted, by client file.
    package var reciprocalTrims: [ClientFileKey: ServerVersion] = [:]
    package var resetCases: [ResetCaseRecord] = []
    /// The held resets by app.
    package var resetHolds: [String: ResetHoldRecord] = [:]
    /// The amounts that users have added beside what the store counts already, and when.
    package var usage: [AppUser: UsageAmounts] = [:]
    package var usageAt: UInt64 = 0
    /// Users of whom it is forgotten what they have added.
    package var usageRemovals: [AppUser] = []
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
            && tableRemovals.isEmpty && objectRemovals.isEmpty && objects.isEmpty && history.isEmpty
            && indexRemovals.isEmpty && indexEntries.isEmpty
            && historyDigests.isEmpty && clientFiles.isEmpty && reciprocals.isEmpty && reciprocalTrims.isEmpty
            && resetCases.isEmpty && resetHolds.isEmpty && seenMessages.isEmpty && compactions.isEmpty && bases.isEmpty
            && terminationSteps.isEmpty && terminationStepsDone.isEmpty && usageRemovals.isEmpty
            && baseRemovals.isEmpty && usage.isEmpty && outbox.isEmpty && outboxRemovals.isEmpty && erasures.isEmpty
            && erasureRemovals.isEmpty && appErasures.isEmpty && appRemovals.isEmpty && clientFileRemovals.isEmpty
    }
}
