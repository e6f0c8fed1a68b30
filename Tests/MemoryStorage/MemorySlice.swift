import Changesets
import Storage
import SyncModel

/// What a slice holds, as one value: a snapshot is a copy of it, and a commit that fails leaves the value as it was.
struct MemorySlice: Sendable {
    var cluster: String?
    var restore: RestoreRecord?
    var resetHolds: [String: ResetHoldRecord] = [:]
    var ownership: SliceOwnership?
    /// Oldest first.
    var changes: [OwnershipChange] = []
    var realms: [RealmID: RealmRecord] = [:]
    var objects: [RealmID: [ObjectRow: [UInt8]]] = [:]
    var indexEntries: [RealmID: Set<IndexEntry>] = [:]
    var history: [HistoryKey: [ServerVersion: HistoryRecord]] = [:]
    /// The digests in the order of their versions.
    var digests: [HistoryKey: [HistoryDigest]] = [:]
    /// The bases by realm and version.
    var bases: [RealmID: [ServerVersion: BaseRecord]] = [:]
    var clientFiles: [ClientFileKey: ClientFileRecord] = [:]
    var reciprocals: [ClientFileKey: [ServerVersion: [UInt8]]] = [:]
    var generations: [String: [UInt64: AppGenerationRecord]] = [:]
    var resetCases: [ClientFileKey: ResetCaseRecord] = [:]
    /// The reasons by campaign.
    var reasons: [String: String] = [:]
    var usage: [AppUser: UserUsage] = [:]
    /// The ids of messages that were seen, oldest first.
    var seen: [String] = []
    var seenIDs: Set<String> = []
    /// The erasures by the erased realm's number.
    var erasures: [RealmID: ErasureRecord] = [:]
    var appErasures: [String: AppErasureRecord] = [:]
    /// The steps by campaign.
    var terminationSteps: [String: TerminationSteps] = [:]
    var outbox: [(number: Int64, record: OutboxRecord)] = []
    private var lastNumber: Int64 = 0

    // MARK: Ownership

    mutating func claim(
        by worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?
    ) -> SliceClaim {
        var reason = OwnershipChange.Reason.first
        if let ownership {
            guard let allowed = ownership.takeover(by: worker, now: now, gone: gone, overdue: overdue) else {
                return .heldBy(owner: ownership.owner, until: ownership.leaseUntil)
            }
            reason = allowed
        }
        let epoch = Epoch((ownership?.epoch.value ?? 0) + 1)
        ownership = SliceOwnership(owner: worker, epoch: epoch, leaseUntil: leaseUntil, isReleased: false)
        changes.append(OwnershipChange(epoch: epoch, owner: worker, at: now, reason: reason))
        changes = changes.suffix(OwnershipChange.kept)
        return .owned(epoch)
    }

    mutating func release(epoch: Epoch, at: UInt64) {
        guard ownership?.epoch == epoch, ownership?.isReleased == false, let last = changes.indices.last else { return }
        ownership?.isReleased = true
        changes[last].releasedAt = at
    }

    func requireOwned(_ slice: SliceNumber, under epoch: Epoch) throws(StoreError) {
        guard let ownership, ownership.epoch == epoch, !ownership.isReleased else {
            throw StoreError(.fenced, "slice \(slice) is no longer owned under epoch \(epoch)")
        }
    }

    // MARK: Writing

    mutating func apply(_ batch: SliceBatch) throws(StoreError) {
        for steps in batch.terminationSteps { terminationSteps[steps.campaign] = steps }
        let inSteps = Set(batch.terminationSteps.map(\.campaign))
        for record in batch.terminations {
            if generations[record.app]?[record.generation] == nil {
                generations[record.app, default: [:]][record.generation] = record
            }
            guard let campaign = record.campaign, !inSteps.contains(campaign) else { continue }
            for key in clientFiles.keys { mark(key, of: record.app, before: record.generation, campaign) }
        }
        for campaign in batch.terminationStepsDone { terminationSteps[campaign] = nil }
        reasons.merge(batch.reasons) { first, _ in first }
        for (key, version) in batch.historyTrims { trim(key, through: version) }
        for realm in batch.reciprocalResets { reciprocals = reciprocals.filter { $0.key.realm != realm } }
        erase(batch)
        for realm in batch.realms { try put(realm) }
        for (key, version) in batch.compactions {
            trim(key, through: version)
            if let record = realms[key.realm], record.generation == key.generation {
                realms[record.id]?.historyBase = max(record.historyBase, version)
            }
        }
        for base in batch.bases { bases[base.realm, default: [:]][base.version] = base }
        for base in batch.baseRemovals { bases[base.realm]?[base.version] = nil }
        for (realm, tables) in batch.tableRemovals {
            objects[realm] = objects[realm]?.filter { !tables.contains($0.key.table) }
            indexEntries[realm] = indexEntries[realm]?.filter { !tables.contains($0.row.table) }
        }
        for (realm, rows) in batch.objectRemovals { objects[realm] = objects[realm]?.filter { !rows.contains($0.key) } }
        for (realm, bodies) in batch.objects { objects[realm, default: [:]].merge(bodies) { $1 } }
        for (realm, entries) in batch.indexRemovals { indexEntries[realm]?.subtract(entries) }
        for (realm, entries) in batch.indexEntries { indexEntries[realm, default: []].formUnion(entries) }
        for (key, records) in batch.history {
            for record in records {
                guard history[key, default: [:]].updateValue(record, forKey: record.version) == nil else {
                    throw StoreError(.alreadyExists, "there is a version \(record.version) already")
                }
            }
        }
        for digest in batch.historyDigests { put(digest) }
        for file in batch.clientFiles { clientFiles[file.key] = file }
        for key in batch.clientFileRemovals {
            clientFiles[key] = nil
            reciprocals[key] = nil
            resetCases[key] = nil
        }
        for (owner, changesets) in batch.reciprocals { reciprocals[owner, default: [:]].merge(changesets) { $1 } }
        for (owner, version) in batch.reciprocalTrims {
            reciprocals[owner] = reciprocals[owner]?.filter { $0.key > version }
        }
        for record in batch.resetCases { resetCases[record.key] = record }
        resetHolds.merge(batch.resetHolds) { $1 }
        for user in batch.usageRemovals { usage[user] = nil }
        for (user, amounts) in batch.usage {
            usage[user] = (usage[user] ?? UserUsage(at: batch.usageAt)).adding(amounts, at: batch.usageAt)
        }
        remember(batch.seenMessages)
        for record in batch.outbox where !outbox.contains(where: { $0.record.id == record.id }) {
            lastNumber += 1
            outbox.append((lastNumber, record))
        }
        let arrived = Set(batch.outboxRemovals)
        outbox.removeAll { arrived.contains($0.record.id) }
        if !batch.reasons.isEmpty {
            let resetting = clientFiles.values.filter { $0.state == .resetRequired }.compactMap(\.campaign)
            let latest = generations.keys.compactMap { latestGeneration(of: $0)?.campaign }
            let current = Set(resetting + latest + batch.reasons.keys + erasures.values.compactMap(\.campaign))
            reasons = reasons.filter { current.contains($0.key) }
        }
    }

    private mutating func put(_ realm: RealmRecord) throws(StoreError) {
        guard let known = realms[realm.id] else {
            guard !realms.values.contains(where: { $0.name == realm.name }) else {
                throw StoreError(.alreadyExists, "there is a realm \(realm.name) already")
            }
            realms[realm.id] = realm
            return
        }
        var changed = RealmRecord(
            id: known.id, name: known.name, generation: realm.generation, latest: realm.latest, salt: realm.salt,
            saltEpoch: realm.saltEpoch, historyBase: realm.historyBase, historyBytes: realm.historyBytes,
            nextIdent: realm.nextIdent, schema: realm.schema, imaged: realm.imaged, indexed: realm.indexed,
            told: realm.told,
            compatibility: known.compatibility,
            lostIdents: known.lostIdents)
        if known.generation == realm.generation { changed.historyBase = max(known.historyBase, realm.historyBase) }
        realms[realm.id] = changed
    }

    mutating func loseIdents() {
        for (id, known) in realms {
            let next = FileIdent(known.nextIdent.rawValue + RestoreRecord.lostIdents)
            realms[id] = RealmRecord(
                id: known.id, name: known.name, generation: known.generation, latest: known.latest, salt: known.salt,
                saltEpoch: known.saltEpoch, historyBase: known.historyBase, historyBytes: known.historyBytes,
                nextIdent: next, schema: known.schema, imaged: known.imaged, indexed: known.indexed, told: known.told,
                compatibility: known.compatibility,
                lostIdents: known.nextIdent..<next)
        }
    }

    private mutating func trim(_ key: HistoryKey, through: ServerVersion) {
        history[key] = history[key]?.filter { $0.key > through }
        digests[key]?.removeAll { $0.through <= through }
    }

    private mutating func put(_ digest: HistoryDigest) {
        var those = digests[digest.key, default: []]
        those.removeAll { $0.through > digest.after && $0.through <= digest.through }
        those.append(digest)
        digests[digest.key] = those.sorted { $0.through < $1.through }
    }

    private mutating func remember(_ ids: [String]) {
        for id in ids where seenIDs.insert(id).inserted { seen.append(id) }
        let excess = seen.count - SliceBatch.rememberedMessages
        guard excess > 0 else { return }
        seenIDs.subtract(seen.prefix(excess))
        seen.removeFirst(excess)
    }
}
