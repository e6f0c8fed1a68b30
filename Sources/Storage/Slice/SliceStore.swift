package import SyncModel

/// Everything that one slice keeps, as its owner needs it: the owner is the only writer, reads what a batch of messages names,
/// and writes what the batch changes in one commit that checks the owner's epoch.
package protocol SliceStore: SliceOwnershipStore, SliceContent, SliceAgenda, SliceMaintenance, SliceErasure,
    SliceTerminations
{
    /// Makes all changes of the batch durable, or none.
    ///
    /// - Throws: `fenced` if the slice is no longer owned under this epoch; `alreadyExists` for a version that its history has
    ///   already, and for a second realm of one name.
    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError)
}

/// The part of a slice's store that knows which cluster the slice belongs to, and who may write it. All times are
/// milliseconds of Unix time.
package protocol SliceOwnershipStore: Sendable {
    /// Takes the slice for a worker where `SliceOwnership.takeover` allows it, and records the change. The new owner's epoch is
    /// the last one plus 1.
    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim
    /// Extends the owner's lease.
    /// - Throws: `fenced`.
    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError)
    /// Hands the slice over, and notes when. Does nothing if the slice is lost or released already.
    func release(epoch: Epoch, at: UInt64) async throws(StoreError)
    /// Makes the slice, whose store is an earlier state of itself, ready for what has gone on since: takes it from whoever has
    /// it, so that its next owner's epoch is above this one, and gives no ident out again.
    func putBack(_ restore: RestoreRecord, epoch: Epoch) async throws(StoreError)

    /// The id of the cluster that the slice belongs to; nil if it was made by a version without ids.
    func cluster() async throws(StoreError) -> String?
    func setCluster(_ id: String) async throws(StoreError)
}

extension SliceOwnershipStore {
    package func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?
    ) async throws(StoreError) -> SliceClaim {
        try await claim(by: worker, now: now, leaseUntil: leaseUntil, gone: gone, overdue: nil)
    }
}

/// The rows that the owner of a slice looks through rather than asks for by key: work that waits or is due, and a campaign's.
package protocol SliceAgenda: Sendable {
    /// The number for the next new realm: above those of all realms, erased ones that are not forgotten among them.
    func nextRealmID() async throws(StoreError) -> RealmID
    /// The latest generations in this slice of the next apps by name.
    func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord]
    /// Generations that terminations have begun since a time, the latest first.
    func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord]
    /// The generation that a campaign began in this slice.
    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord?
    /// The client files that must reset or have reset in a campaign, in the order of their keys.
    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile]
    func countClientFiles(campaign: String) async throws(StoreError) -> Int
    func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int
    /// Every app's resets that are or were held, by app.
    func resetHolds() async throws(StoreError) -> [ResetHoldRecord]
    /// An app's live client files that were last seen before `seenBefore`, those seen longest ago first.
    func idleClientFiles(app: String, seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ClientFileRecord]
    /// Client files that are not live any more and were last seen before `seenBefore`, in any order.
    func forgettableClientFiles(seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ListedClientFile]
    /// Users who have added nothing since a time, those longest ago first.
    func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser]
    /// The reset cases whose `dueAt` is not after a time, the longest overdue first.
    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord]
    /// Messages that wait to be published, in the order in which they were committed: those after a number, at least one if
    /// there is one, until `maxBytes` are reached.
    func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)]
}

/// Terminations that reach very many client files, in steps.
package protocol SliceTerminations: Sendable {
    /// Returns the terminations that are under way, in the order of their apps.
    func terminationSteps() async throws(StoreError) -> [TerminationSteps]
    /// Goes on with one: looks at the app's next client files after `steps.last` in the order of their keys, of whatever state and
    /// generation, at most `limit`, does to them what `SliceBatch.terminations` does to all of the app's, and stores how far
    /// that is; all in one transaction.
    ///
    /// - Returns: how far it is: all are marked if there were fewer than `limit`.
    /// - Throws: `fenced`.
    func mark(_ steps: TerminationSteps, limit: Int, epoch: Epoch) async throws(StoreError) -> TerminationSteps
}

/// The rows that were taken away and are not gone yet, and their going in steps.
package protocol SliceErasure: Sendable {
    /// The erasures of all realms that had a name, the latest first.
    func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord]
    /// The erasures of which something is still stored, the lowest number first.
    func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord]
    /// The latest erasures since a time, at most `limit`, the latest first.
    func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord]
    /// Erasures before a time of which nothing is stored any more, in any order.
    func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord]
    /// Some erasures of an app's realms, at most `limit`.
    func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord]
    /// Apps that are to go, by name.
    func appErasures() async throws(StoreError) -> [AppErasureRecord]
    /// Some realms of an app, at most `limit`.
    func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord]
    /// How many realms of an app there are.
    func countRealms(ofApp app: String) async throws(StoreError) -> Int
    /// How many client files of a realm are live or have yet to reset.
    func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int
    /// Deletes some of what is stored under the number of an erased realm: at most `maxRows` rows, and no more than about
    /// `maxBytes`, but at least one.
    ///
    /// - Returns: whether nothing is left.
    /// - Throws: `fenced`.
    func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Bool
}

/// The means that keep a slice small: which history is still needed, a consistent view to make a base from, and its room.
package protocol SliceMaintenance: Sendable {
    /// The version after which the history is still needed by live client files of the generation: the lowest on which one of
    /// them may base an upload or a download. Nil if no client file needs any.
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> ServerVersion?
    /// Whether a live client file has begun with a base and may still read it or base an upload within it.
    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool
    /// The last version of the stretch after `after` that one commit should drop: at most `maxVersions` and about `maxBytes`, at
    /// least one version. Nil if there is no version up to `through`.
    func historyStretch(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> ServerVersion?
    /// Runs `body` with the slice as it is now, however it changes meanwhile. An engine may not be able to reuse what the owner
    /// deletes before `body` returns, so a snapshot is for one realm, not for a whole slice.
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceContent) async throws -> Value
    ) async throws -> Value
    /// Returns room that deletions have left to whatever the slice is stored on, at most `maxBytes` at once; keeps some for what
    /// comes.
    ///
    /// - Returns: the bytes returned; 0 for an engine that needs no such care.
    /// - Throws: `fenced`.
    func returnSpace(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int
}
