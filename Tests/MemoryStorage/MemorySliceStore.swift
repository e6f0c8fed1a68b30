import Changesets
package import Storage
package import SyncModel
import Synchronization

/// A slice's store in memory, which is no database: dictionaries that are searched whole. It shows what the contract says, and
/// serves tests of its users.
package final class MemorySliceStore: SliceStore {
    package let slice: SliceNumber
    let held: Mutex<MemorySlice>

    package init(slice: SliceNumber = SliceNumber(0)) {
        self.slice = slice
        held = Mutex(MemorySlice())
    }

    private init(slice: SliceNumber, _ content: MemorySlice) {
        self.slice = slice
        held = Mutex(content)
    }

    var content: MemorySlice { held.withLock { $0 } }

    // MARK: Ownership

    package func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) async throws(StoreError) -> SliceClaim {
        held.withLock { $0.claim(by: worker, now: now, leaseUntil: leaseUntil, gone: gone, overdue: overdue) }
    }

    package func renew(epoch: Epoch, leaseUntil: UInt64) async throws(StoreError) {
        try held.withLock { (content) throws(StoreError) in
            try content.requireOwned(slice, under: epoch)
            content.ownership?.leaseUntil = leaseUntil
        }
    }

    package func release(epoch: Epoch, at: UInt64) async throws(StoreError) {
        held.withLock { $0.release(epoch: epoch, at: at) }
    }

    package func restore() async throws(StoreError) -> RestoreRecord? { content.restore }

    package func putBack(_ restore: RestoreRecord, epoch: Epoch) async throws(StoreError) {
        held.withLock { content in
            content.restore = restore
            content.loseIdents()
            let current = content.ownership
            content.ownership = SliceOwnership(
                owner: current?.owner ?? "", epoch: max(epoch, current?.epoch ?? epoch), leaseUntil: 0, isReleased: true
            )
        }
    }

    package func cluster() async throws(StoreError) -> String? { content.cluster }

    package func setCluster(_ id: String) async throws(StoreError) { held.withLock { $0.cluster = id } }

    package func ownership() async throws(StoreError) -> SliceOwnership? { content.ownership }

    package func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange] {
        Array(content.changes.reversed().prefix(limit))
    }

    // MARK: Content

    package func read(_ lookup: SliceLookup) async throws(StoreError) -> SliceFindings { content.find(lookup) }

    package func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord] {
        let later = content.realms.values.filter { realm in after.map { realm.id > $0 } ?? true }
        return Array(later.sorted { $0.id < $1.id }.prefix(limit))
    }

    package func objects(
        in realm: RealmID, of table: UInt32?, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        content.objects(in: realm, of: table, after: after).page(maxBytes: maxBytes) { $0.body.count }
    }

    package func clientFiles(
        in realm: RealmID, state: ClientFileRecord.State?, after ident: FileIdent, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        let files = content.clientFiles.values.filter {
            $0.realm == realm && $0.ident > ident && (state == nil || $0.state == state)
        }
        return Array(files.sorted { $0.ident < $1.ident }.prefix(limit))
    }

    // MARK: Agenda

    package func nextRealmID() async throws(StoreError) -> RealmID {
        let content = content
        return RealmID(max(content.realms.keys.max()?.value ?? 0, content.erasures.keys.max()?.value ?? 0) + 1)
    }

    package func appGenerations(after app: String?, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        let content = content
        let later = content.generations.keys.filter { name in app.map { name > $0 } ?? true }
        return later.sorted().prefix(limit).compactMap(content.latestGeneration)
    }

    package func terminations(since: UInt64, limit: Int) async throws(StoreError) -> [AppGenerationRecord] {
        let recent = content.generations.values.flatMap(\.values).filter { $0.at >= since && $0.campaign != nil }
        return Array(recent.sorted { ($0.at, $0.generation) > ($1.at, $1.generation) }.prefix(limit))
    }

    package func appGeneration(campaign: String) async throws(StoreError) -> AppGenerationRecord? {
        content.generations.values.flatMap(\.values).first { $0.campaign == campaign }
    }

    package func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        let content = content
        let files = content.clientFiles.values.filter { file in
            file.campaign == campaign
                && (after.map { (file.realm, file.ident) > ($0.realm, $0.ident) } ?? true)
        }
        return files.sorted { ($0.realm, $0.ident) < ($1.realm, $1.ident) }.prefix(limit).compactMap { file in
            content.realms[file.realm].map { ListedClientFile(name: $0.name, record: file) }
        }
    }

    package func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        content.clientFiles.values.count { $0.campaign == campaign }
    }

    package func countClientFiles(app: String, state: ClientFileRecord.State) async throws(StoreError) -> Int {
        let content = content
        return content.clientFiles.values.count {
            $0.state == state && content.realms[$0.realm]?.name.app == app
        }
    }

    package func resetHolds() async throws(StoreError) -> [ResetHoldRecord] {
        content.resetHolds.values.sorted { $0.app < $1.app }
    }

    package func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        let content = content
        let files = content.clientFiles.values.filter { file in
            file.state == .live && file.lastSeen < seenBefore && content.realms[file.realm]?.name.app == app
        }
        return Array(files.sorted { $0.lastSeen < $1.lastSeen }.prefix(limit))
    }

    package func forgettableClientFiles(
        seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        let content = content
        let files = content.clientFiles.values.filter { $0.state != .live && $0.lastSeen < seenBefore }
        return files.compactMap { file in
            content.realms[file.realm].map { ListedClientFile(name: $0.name, record: file) }
        }.prefix(limit).map(\.self)
    }

    package func dueResetCases(at: UInt64, limit: Int) async throws(StoreError) -> [ResetCaseRecord] {
        let due = content.resetCases.values.compactMap { record in record.dueAt.map { (at: $0, record: record) } }
        return due.filter { $0.at <= at }.sorted { $0.at < $1.at }.prefix(limit).map(\.record)
    }

    package func outbox(
        after number: Int64, maxBytes: Int
    ) async throws(StoreError) -> [(number: Int64, record: OutboxRecord)] {
        content.outbox.filter { $0.number > number }.page(maxBytes: maxBytes) { $0.record.body.count }
    }

    // MARK: Maintenance

    package func neededHistory(of realm: RealmID, generation: UInt64) async throws(StoreError) -> ServerVersion? {
        content.readers(of: realm, generation).compactMap { file in
            file.historyStart.map { max($0, file.upload.serverVersion) }
        }.min()
    }

    package func isNeeded(_ base: BaseRecord) async throws(StoreError) -> Bool {
        content.readers(of: base.realm, base.generation).contains {
            $0.historyStart == base.version && $0.upload.serverVersion < base.version
        }
    }

    package func historyStretch(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxVersions: Int, maxBytes: UInt64
    ) async throws(StoreError) -> ServerVersion? {
        let versions = content.history[key, default: [:]].values
            .filter { $0.version > after && $0.version <= through }.sorted { $0.version < $1.version }
            .prefix(maxVersions)
        guard let start = versions.first?.cumulativeBytes else { return nil }
        let end = versions.first { $0.cumulativeBytes &- start >= maxBytes } ?? versions.last
        return end?.version
    }

    package nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceContent) async throws -> Value
    ) async throws -> Value {
        try await body(MemorySliceStore(slice: slice, content))
    }

    package func returnSpace(maxBytes: Int, epoch: Epoch) async throws(StoreError) -> Int {
        try content.requireOwned(slice, under: epoch)
        return 0
    }

    package func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError) {
        try held.withLock { (content) throws(StoreError) in
            try content.requireOwned(slice, under: epoch)
            var changed = content
            try changed.apply(batch)
            content = changed
        }
    }
}

extension MemorySlice {
    /// The client files that may need the history of a generation.
    fileprivate func readers(of realm: RealmID, _ generation: UInt64) -> [ClientFileRecord] {
        clientFiles.values.filter { $0.realm == realm && $0.state == .live && $0.generation == generation }
    }
}
