package import Messages

/// Everything that one slice keeps. Its owner is the only writer: reads go by key, and all changes of a batch of messages
/// go through one `commit` that checks the owner's epoch in the same transaction.
package protocol SliceStore: Sendable {
    var slice: SliceNumber { get }

    // MARK: Ownership

    /// Takes the slice if it is free, released, its lease has run out or is `overdue`, or its owner is `gone`.
    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim
    /// - Throws: `fenced`.
    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError)
    /// Hands the slice over, and notes when. Does nothing if it is lost already.
    func release(epoch: Epoch, at: UInt64) async throws(StoreError)
    func ownership() async throws(StoreError) -> SliceOwnership?
    /// The latest changes, newest first.
    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange]

    // MARK: Realms

    func realm(_ name: RealmName) async throws(StoreError) -> RealmRecord?
    /// In the order of their numbers.
    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord]
    func nextRealmID() async throws(StoreError) -> RealmID
    /// Those that exist.
    func objects(
        in realm: RealmID, at rows: [ObjectRow]
    ) async throws(StoreError) -> [ObjectRow: [UInt8]]
    /// The next objects in the order of (table, key), at least one if there is one, until `maxBytes` are reached.
    func objects(
        in realm: RealmID, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])]

    // MARK: History

    /// The versions of `after + 1 ... through` in order, at least one if there is one, until `maxBytes` are reached.
    func history(
        of key: HistoryKey, after: UInt64, through: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord]
    /// Those of the versions that are there, in order: the first, then as long as `maxBytes` are not reached.
    ///
    /// - Parameter versions: ascending.
    func history(
        of key: HistoryKey, at versions: ArraySlice<UInt64>, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord]
    /// The digests that cover versions after `after`, in order, at least one if there is one, until `maxBytes` are reached.
    func historyDigests(
        of key: HistoryKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [HistoryDigest]
    /// A version without its changeset.
    func historyHeading(of key: HistoryKey, version: UInt64) async throws(StoreError) -> HistoryRecord?
    /// The last version of a stretch after `after` that is to be dropped at once: at most `maxVersions` and about `maxBytes`,
    /// at least one version; nil if there is none up to `through`.
    func historyStretch(
        of key: HistoryKey, after: UInt64, through: UInt64, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> UInt64?
    /// The stored reciprocals of the versions after `after`, or nil if they are more than `maxBytes`; one that is present
    /// may be empty.
    func reciprocals(
        of owner: ClientFileKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [UInt64: [UInt8]]?
    /// The stored reciprocals of these versions.
    func reciprocals(
        of owner: ClientFileKey, at versions: [UInt64]
    ) async throws(StoreError) -> [UInt64: [UInt8]]

    // MARK: Bases

    /// All of a realm's, of whatever generation, complete or not, in the order of their versions.
    func bases(of realm: RealmID) async throws(StoreError) -> [BaseRecord]
    /// One that may be read.
    func base(
        of realm: RealmID, generation: UInt64, version: UInt64
    ) async throws(StoreError) -> BaseRecord?
    /// The newest with which a client file may begin.
    func newestBase(of realm: RealmID, generation: UInt64) async throws(StoreError) -> BaseRecord?
    /// The version after which the history is still needed by live client files of the generation: the lowest on which one
    /// of them may base an upload or a download. Nil if nobody needs any.
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> UInt64?
    /// Whether a live client file has begun with a base and may still read it or base an upload within it.
    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool
    /// The slice as it is now, to be read from while it changes. The log cannot be emptied until `endSnapshot`.
    func openSnapshot() async throws(StoreError) -> any SliceReader

    // MARK: Client files and resets

    func clientFile(_ key: ClientFileKey) async throws(StoreError) -> ClientFileRecord?
    /// A user's client files in a realm that await their reset, the most recently seen first.
    func clientFilesToReset(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord]
    func liveClientFiles(
        in realm: RealmID, after ident: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord]
    /// Live client files of an app that were last seen before `seenBefore`.
    func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord]
    /// A campaign's client files in this slice, in the order of their keys.
    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile]
    func countClientFiles(campaign: String) async throws(StoreError) -> Int

    /// An app's latest generation here.
    func appGeneration(_ app: String) async throws(StoreError) -> AppGenerationRecord?
    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord?
    /// Every app's latest generation here.
    func appGenerations() async throws(StoreError) -> [AppGenerationRecord]

    /// Why a campaign makes client realms reset; nil if no reason was given.
    func reason(campaign: String) async throws(StoreError) -> String?

    func resetCase(_ key: ClientFileKey) async throws(StoreError) -> ResetCaseRecord?
    /// A user's cases in a realm of which something is still expected.
    func openResetCases(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ResetCaseRecord]
    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord]

    func isSeen(messageID: String) async throws(StoreError) -> Bool

    /// Messages that wait to be published, in their order: those after a number, at least one if there is one, until
    /// `maxBytes` are reached.
    func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)]

    // MARK: Writing

    /// Makes all changes of the batch durable, or none.
    /// - Throws: `fenced` if the slice is no longer owned under this epoch.
    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError)

    /// Gives room that deletions have left back to the file system, at most `maxBytes` at once; keeps some for what comes.
    ///
    /// - Returns: the bytes given back.
    /// - Throws: `fenced`.
    func reclaim(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int
}

extension SliceStore {
    package func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?
    ) async throws(StoreError) -> SliceClaim {
        try await claim(by: worker, now: now, leaseUntil: leaseUntil, gone: gone, overdue: nil)
    }
}
