import MemoryStorage
import Messages
import Storage
import SyncModel
import Synchronization

/// A store in memory that counts what is read of the history, and is slow or breaks down when told to.
final class CountingStore: SliceStore {
    private let store: MemorySliceStore
    let historyRead = Mutex(0)
    /// Calls of `read`, and each object that one asked for.
    let lookups = Mutex(0)
    let objectsRead = Mutex<[ObjectRow]>([])
    /// Objects that were read one after the other, and by indexes.
    let objectsScanned = Mutex(0)
    let objectsFound = Mutex(0)
    /// Calls for what waits and what is due.
    let agendaCalls = Mutex(0)
    /// Apps and users whose usage was asked for.
    let appsAsked = Mutex(0)
    let usersAsked = Mutex(0)
    /// Reset cases cannot be read.
    let hasDamagedCases = Mutex(false)
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
    /// Bytes of free space that are to be given back.
    let space = Mutex(0)
    /// Commits, and looks at who owns the slice, wait as long as this says so.
    let isStuck = Mutex(false)

    init(slice: SliceNumber = SliceNumber(0)) { store = MemorySliceStore(slice: slice) }

    var slice: SliceNumber { store.slice }

    func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int {
        try await store.countClientFiles(app: app, state: state)
    }
    func resetHolds() async throws(StoreError) -> [ResetHoldRecord] { try await store.resetHolds() }
    func putBack(_ restore: RestoreRecord, epoch: Epoch) async throws(StoreError) {
        try await store.putBack(restore, epoch: epoch)
    }
    func restore() async throws(StoreError) -> RestoreRecord? { try await store.restore() }
    func cluster() async throws(StoreError) -> String? { try await store.cluster() }
    func setCluster(_ id: String) async throws(StoreError) { try await store.setCluster(id) }

    // MARK: Reading

    func read(_ lookup: SliceLookup) async throws(StoreError) -> SliceFindings {
        if let name = damaged.withLock({ $0 }), lookup.realms.contains(name) {
            damageMet.withLock { $0 += 1 }
            throw StoreError(.corrupt, "the realm is damaged, as the test wants it")
        }
        if let realm = damagedHistory.withLock({ $0 }), lookup.bases.contains(realm) {
            throw StoreError(.corrupt, "the history is damaged, as the test wants it")
        }
        if hasDamagedCases.withLock({ $0 }), !lookup.resetCases.isEmpty {
            throw StoreError(.corrupt, "the reset cases are damaged, as the test wants it")
        }
        lookups.withLock { $0 += 1 }
        appsAsked.withLock { $0 += lookup.appUsage.count }
        usersAsked.withLock { $0 += lookup.userUsage.count }
        objectsRead.withLock { $0 += lookup.objects.values.joined() }
        var lookup = lookup
        if hidesDigests.withLock({ $0 }) { lookup.digests = [] }
        let found = try await store.read(lookup)
        let records = found.history.reduce(0) { $0 + $1.count }
        historyRead.withLock { $0 += records }
        return found
    }
    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        guard damaged.withLock({ $0 }) == nil else {
            throw StoreError(.corrupt, "a realm is damaged, as the test wants it")
        }
        return try await store.realms(after: after, limit: limit)
    }

    private func waitWhileStuck() async {
        while isStuck.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
    }

    // MARK: Writing

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
        await waitWhileStuck()
        if isBroken { throw StoreError(.unavailable, "the store is away, as the test wants it") }
        try await store.commit(batch, epoch: epoch)
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

    // MARK: The same as the store's

    func release(epoch: Epoch, at: UInt64) async throws(StoreError) { try await store.release(epoch: epoch, at: at) }
    func ownership() async throws(StoreError) -> SliceOwnership? {
        await waitWhileStuck()
        return try await store.ownership()
    }

    /// Gives the slice to another worker, however long its owner's lease lasts.
    func seize(from owner: String?, by worker: String, until: UInt64) async throws {
        _ = try await store.claim(by: worker, now: 1, leaseUntil: until, gone: owner, overdue: nil)
    }
    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        try await store.ownershipHistory(limit: limit)
    }
    func objects(
        in realm: RealmID, of table: UInt32?, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        let found = try await store.objects(in: realm, of: table, after: after, maxBytes: maxBytes)
        objectsScanned.withLock { $0 += found.count }
        return found
    }
    func objects(_ query: IndexQuery, maxBytes: Int) async throws(StoreError) -> [IndexedObject] {
        let found = try await store.objects(query, maxBytes: maxBytes)
        objectsFound.withLock { $0 += found.count }
        return found
    }
    func countObjects(in realm: RealmID, of table: UInt32, limit: Int) async throws(StoreError) -> Int {
        try await store.countObjects(in: realm, of: table, limit: limit)
    }
    func countEntries(_ query: IndexQuery, limit: Int) async throws(StoreError) -> Int {
        try await store.countEntries(query, limit: limit)
    }
    func indexEntries(
        in realm: RealmID, after: IndexEntry?, limit: Int
    ) async throws(StoreError) -> [IndexEntry] {
        try await store.indexEntries(in: realm, after: after, limit: limit)
    }
    func clientFiles(
        in realm: RealmID, state: ClientFileRecord.State?, after ident: FileIdent, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await store.clientFiles(in: realm, state: state, after: ident, limit: limit)
    }
    func nextRealmID() async throws(StoreError) -> RealmID { try await store.nextRealmID() }
    func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        agendaCalls.withLock { $0 += 1 }
        return try await store.appGenerations(after: app, limit: limit)
    }
    func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        agendaCalls.withLock { $0 += 1 }
        return try await store.terminations(since: since, limit: limit)
    }
    func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        try await store.appGeneration(campaign: campaign)
    }
    func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await store.clientFiles(campaign: campaign, after: after, limit: limit)
    }
    func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await store.countClientFiles(campaign: campaign)
    }
    func idleClientFiles(app: String, seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ClientFileRecord] {
        agendaCalls.withLock { $0 += 1 }
        return try await store.idleClientFiles(app: app, seenBefore: seenBefore, limit: limit)
    }
    func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        agendaCalls.withLock { $0 += 1 }
        return try await store.dueResetCases(at: at, limit: limit)
    }
    func outbox(after number: Int64, maxBytes: Int) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)]
    {
        try await store.outbox(after: number, maxBytes: maxBytes)
    }
    func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> ServerVersion? {
        try await store.neededHistory(of: realm, generation: generation)
    }
    func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool { try await store.isNeeded(base) }
    func historyStretch(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> ServerVersion? {
        try await store.historyStretch(
            of: key, after: after, through: through, maxVersions: maxVersions, maxBytes: maxBytes)
    }
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceContent) async throws -> Value
    ) async throws -> Value {
        try await store.withSnapshot(body)
    }
    func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord] {
        try await store.erasures(of: name)
    }
    func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await store.unsweptErasures(limit: limit)
    }
    func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await store.erasures(since: since, limit: limit)
    }
    func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await store.sweptErasures(before: before, limit: limit)
    }
    func forgettableClientFiles(seenBefore: UInt64, limit: Int) async throws(StoreError) -> [ListedClientFile] {
        try await store.forgettableClientFiles(seenBefore: seenBefore, limit: limit)
    }
    func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        try await store.erasures(ofApp: app, limit: limit)
    }
    func appErasures() async throws(StoreError) -> [AppErasureRecord] { try await store.appErasures() }
    func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord] {
        try await store.realms(ofApp: app, limit: limit)
    }
    func countRealms(ofApp app: String) async throws(StoreError) -> Int { try await store.countRealms(ofApp: app) }
    func terminationSteps() async throws(StoreError) -> [TerminationSteps] { try await store.terminationSteps() }
    func mark(_ steps: TerminationSteps, limit: Int, epoch: Epoch) async throws(StoreError) -> TerminationSteps {
        try refuse()
        return try await store.mark(steps, limit: limit, epoch: epoch)
    }
    func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser] {
        try await store.forgettableUsage(before: before, limit: limit)
    }
    func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int {
        try await store.countClientFiles(in: realm)
    }
    func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Bool {
        try await store.sweep(realm, maxRows: maxRows, maxBytes: maxBytes, epoch: epoch)
    }
    func returnSpace(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int {
        _ = try await store.returnSpace(maxBytes: maxBytes, epoch: epoch)
        return space.withLock { space in
            let bytes = min(maxBytes, space)
            space -= bytes
            return bytes
        }
    }
}
