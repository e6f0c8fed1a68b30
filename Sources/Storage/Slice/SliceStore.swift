package import Messages

/// Everything that one slice keeps. Its owner is the only writer: reads go by key, and all changes of a batch of messages
/// go through one `commit` that checks the owner's epoch in the same transaction.
package protocol SliceStore: Sendable {
    var slice: SliceNumber { get }

    // MARK: Ownership

    /// Takes the slice if it is free, released, its lease has run out, or its owner is `gone`.
    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?
    ) async throws(StoreError) -> SliceClaim
    /// - Throws: `fenced`.
    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError)
    /// Hands the slice over. Does nothing if it is lost already.
    func release(epoch: Epoch) async throws(StoreError)
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
    /// The stored reciprocals of the versions after `after`, or nil if they are more than `maxBytes`; one that is present
    /// may be empty.
    func reciprocals(
        of owner: ClientFileKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [UInt64: [UInt8]]?
    /// The stored reciprocals of these versions.
    func reciprocals(
        of owner: ClientFileKey, at versions: [UInt64]
    ) async throws(StoreError) -> [UInt64: [UInt8]]

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

    func resetCase(_ key: ClientFileKey) async throws(StoreError) -> ResetCaseRecord?
    /// A user's cases in a realm of which something is still expected.
    func openResetCases(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ResetCaseRecord]
    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord]

    func isSeen(messageID: String) async throws(StoreError) -> Bool

    // MARK: Writing

    /// Makes all changes of the batch durable, or none.
    /// - Throws: `fenced` if the slice is no longer owned under this epoch.
    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError)
}
