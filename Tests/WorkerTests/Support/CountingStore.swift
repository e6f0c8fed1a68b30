import Messages
import Storage
import StorageSQLite
import Synchronization

/// A store in memory that counts what is read of the history, and is slow or breaks down when told to.
final class CountingStore: SliceStore {
    private let store: SQLiteSliceStore
    let historyRead = Mutex(0)
    let hidesDigests = Mutex(false)
    /// How many commits succeed before all fail; nil for no end.
    let commitsLeft = Mutex<Int?>(nil)
    /// Nothing can be written, and how often that was tried.
    let isAway = Mutex(false)
    let refusals = Mutex(0)
    /// What is stored of it cannot be read.
    let damaged = Mutex<RealmName?>(nil)
    let damageMet = Mutex(0)
    let damagedHistory = Mutex<RealmID?>(nil)
    /// Commits wait as long as this says so.
    let isStuck = Mutex(false)

    init(slice: SliceNumber = SliceNumber(0)) throws { store = try SQLiteSliceStore(slice: slice) }

    var slice: SliceNumber { store.slice }

    func history(
        of key: HistoryKey, after: UInt64, through: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        let records = try await store.history(of: key, after: after, through: through, maxBytes: maxBytes)
        historyRead.withLock { $0 += records.count }
        return records
    }

    func history(
        of key: HistoryKey, at versions: ArraySlice<UInt64>, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        let records = try await store.history(of: key, at: versions, maxBytes: maxBytes)
        historyRead.withLock { $0 += records.count }
        return records
    }

    func historyDigests(of key: HistoryKey, after: UInt64, maxBytes: Int) async throws(StoreError) -> [HistoryDigest] {
        if hidesDigests.withLock({ $0 }) { return [] }
        return try await store.historyDigests(of: key, after: after, maxBytes: maxBytes)
    }

    // MARK: The same as the store's

    func historyStretch(
        of key: HistoryKey, after: UInt64, through: UInt64, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> UInt64? {
        try await store.historyStretch(
            of: key, after: after, through: through, maxVersions: maxVersions, maxBytes: maxBytes)
    }
    func bases(of realm: RealmID) async throws(StoreError) -> [BaseRecord] {
        if damagedHistory.withLock({ $0 }) == realm {
            throw StoreError(.corrupt, "the history is damaged, as the test wants it")
        }
        return try await store.bases(of: realm)
    }
    func base(of realm: RealmID, generation: UInt64, version: UInt64) async throws(StoreError) -> BaseRecord? {
        try await store.base(of: realm, generation: generation, version: version)
    }
    func newestBase(of realm: RealmID, generation: UInt64) async throws(StoreError) -> BaseRecord? {
        try await store.newestBase(of: realm, generation: generation)
    }
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> UInt64? {
        try await store.neededHistory(of: realm, generation: generation)
    }
    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool { try await store.isNeeded(base) }
    func openSnapshot() async throws(StoreError) -> any SliceReader { try await store.openSnapshot() }
    func reclaim(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int {
        try await store.reclaim(maxBytes: maxBytes, epoch: epoch)
    }

    func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim {
        try refuse()
        return try await store.claim(by: worker, now: now, leaseUntil: leaseUntil, gone: gone, overdue: overdue)
    }
    func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError) {
        try refuse()
        try await store.renew(epoch: epoch, leaseUntil: leaseUntil)
    }
    func release(epoch: Epoch, at: UInt64) async throws(StoreError) { try await store.release(epoch: epoch, at: at) }
    func ownership() async throws(StoreError) -> SliceOwnership? { try await store.ownership() }
    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        try await store.ownershipHistory(limit: limit)
    }
    func realm(_ name: RealmName) async throws(StoreError) -> RealmRecord? {
        if damaged.withLock({ $0 }) == name {
            damageMet.withLock { $0 += 1 }
            throw StoreError(.corrupt, "the realm is damaged, as the test wants it")
        }
        return try await store.realm(name)
    }
    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        guard damaged.withLock({ $0 }) == nil else {
            throw StoreError(.corrupt, "a realm is damaged, as the test wants it")
        }
        return try await store.realms(after: after, limit: limit)
    }
    func nextRealmID() async throws(StoreError) -> RealmID { try await store.nextRealmID() }
    func objects(in realm: RealmID, at rows: [ObjectRow]) async throws(StoreError) -> [ObjectRow: [UInt8]] {
        try await store.objects(in: realm, at: rows)
    }
    func objects(
        in realm: RealmID, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        try await store.objects(in: realm, after: after, maxBytes: maxBytes)
    }
    func historyHeading(of key: HistoryKey, version: UInt64) async throws(StoreError) -> HistoryRecord? {
        try await store.historyHeading(of: key, version: version)
    }
    func reciprocals(
        of owner: ClientFileKey, after: UInt64, maxBytes: Int
    ) async throws(StoreError) -> [UInt64: [UInt8]]? {
        try await store.reciprocals(of: owner, after: after, maxBytes: maxBytes)
    }
    func reciprocals(of owner: ClientFileKey, at versions: [UInt64]) async throws(StoreError) -> [UInt64: [UInt8]] {
        try await store.reciprocals(of: owner, at: versions)
    }
    func clientFile(_ key: ClientFileKey) async throws(StoreError) -> ClientFileRecord? {
        try await store.clientFile(key)
    }
    func clientFilesToReset(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await store.clientFilesToReset(in: realm, user: user, limit: limit)
    }
    func liveClientFiles(
        in realm: RealmID, after ident: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await store.liveClientFiles(in: realm, after: ident, limit: limit)
    }
    func idleClientFiles(app: String, seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ClientFileRecord] {
        try await store.idleClientFiles(app: app, seenBefore: seenBefore, limit: limit)
    }
    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await store.clientFiles(campaign: campaign, after: after, limit: limit)
    }
    func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await store.countClientFiles(campaign: campaign)
    }
    func appGeneration(_ app: String) async throws(StoreError) -> AppGenerationRecord? {
        try await store.appGeneration(app)
    }
    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await store.appGeneration(campaign: campaign)
    }
    func appGenerations() async throws(StoreError) -> [AppGenerationRecord] { try await store.appGenerations() }
    func reason(campaign: String) async throws(StoreError) -> String? { try await store.reason(campaign: campaign) }
    func resetCase(_ key: ClientFileKey) async throws(StoreError) -> ResetCaseRecord? { try await store.resetCase(key) }
    func openResetCases(in realm: RealmID, user: String, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await store.openResetCases(in: realm, user: user, limit: limit)
    }
    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        try await store.dueResetCases(at: at, limit: limit)
    }
    func isSeen(messageID: String) async throws(StoreError) -> Bool { try await store.isSeen(messageID: messageID) }
    func outbox(after number: Int64, maxBytes: Int) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)]
    {
        try await store.outbox(after: number, maxBytes: maxBytes)
    }
    private func refuse() throws(StoreError) {
        guard isAway.withLock({ $0 }) else { return }
        refusals.withLock { $0 += 1 }
        throw StoreError(.unavailable, "the store is away, as the test wants it")
    }

    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError) {
        try refuse()
        let isBroken = commitsLeft.withLock { left in
            guard let some = left else { return false }
            left = max(0, some - 1)
            return some == 0
        }
        while isStuck.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
        if isBroken { throw StoreError(.unavailable, "the store is away, as the test wants it") }
        try await store.commit(batch, epoch: epoch)
    }
}
