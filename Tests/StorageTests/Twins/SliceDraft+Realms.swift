import Changesets
import SeededRandom
import Storage
import SyncModel

/// Changes of realms and their histories.
extension SliceDraft {
    mutating func makeRealm() {
        let name = random.pick(SliceScope.names)
        guard !situation.realms.contains(where: { $0.name == name }) else { return }
        let realm = RealmRecord(
            id: situation.nextRealm, name: name, generation: situation.generation(of: name.app),
            salt: VersionSalt(random.next()), saltEpoch: Epoch(random.next()), nextIdent: 2, schema: random.bytes(20),
            compatibility: random.below(2) == 0 ? .convergent : .stockClients, lostIdents: 5..<9)
        situation.nextRealm = RealmID(realm.id.value + 1)
        situation.realms.append(realm)
        batch.realms.append(realm)
    }

    /// Puts a realm's heading into the batch, in the place of one that is there.
    mutating func put(_ index: Int) {
        let realm = situation.realms[index]
        batch.realms.removeAll { $0.id == realm.id }
        batch.realms.append(realm)
    }

    mutating func changeHeading(_ index: Int) {
        let known = situation.realms[index]
        // Name, compatibility and lost idents stay, whatever a later heading says.
        var changed = RealmRecord(
            id: known.id, name: RealmName(app: known.name.app, partition: "\(random.next())"),
            generation: known.generation, latest: known.latest, salt: VersionSalt(random.next()),
            saltEpoch: known.saltEpoch, historyBase: ServerVersion(UInt64(random.below(4))),
            historyBytes: random.next(), nextIdent: known.nextIdent, schema: random.bytes(20),
            imaged: random.bytes(9), indexed: random.bytes(9), told: random.told(), compatibility: .convergent)
        if random.below(3) == 0 { changed.generation = max(known.generation, situation.generation(of: known.name.app)) }
        situation.realms[index] = changed
        // Two headings in one batch count one after another.
        if batch.realms.contains(where: { $0.id == known.id }) { batch.realms.append(changed) } else { put(index) }
    }

    private func key(_ index: Int) -> HistoryKey {
        HistoryKey(realm: situation.realms[index].id, generation: situation.realms[index].generation)
    }

    private mutating func entry(_ version: UInt64) -> HistoryRecord {
        var record = Sample.entry(ServerVersion(version), random.bytes(60))
        record.images = random.bytes(6)
        record.event = random.below(2) == 0 ? "" : "\(random.next())"
        record.salt = VersionSalt(random.next())
        return record
    }

    mutating func append(_ index: Int) {
        let latest = situation.realms[index].latest.version.rawValue
        let count = UInt64(1 + random.below(3))
        let key = key(index)
        for version in latest + 1...latest + count { batch.history[key, default: []].append(entry(version)) }
        situation.realms[index].latest = SaltedServerVersion(
            version: ServerVersion(latest + count), salt: VersionSalt(random.next()))
        put(index)
        guard random.below(2) == 0 else { return }
        let after = latest - min(latest, UInt64(random.below(4)))
        batch.historyDigests.append(
            HistoryDigest(
                key: key, after: ServerVersion(after), through: ServerVersion(latest + count), body: random.bytes(50)))
    }

    mutating func compact(_ index: Int) {
        let through = ServerVersion(UInt64(random.below(Int(situation.realms[index].latest.version.rawValue) + 1)))
        if random.below(3) == 0 {
            batch.historyTrims[key(index)] = through
        } else {
            batch.compactions[key(index)] = through
        }
    }

    mutating func makeBase(_ index: Int) {
        let realm = situation.realms[index]
        let version = realm.latest.version
        // The databases keep a base's changesets by its version alone, so no other generation has a base of the same one.
        guard version > 0, !scope.histories.contains(where: { $0.realm == realm.id && $0.base == version }),
            !situation.bases.contains(where: { $0.realm == realm.id && $0.version == version })
        else { return }
        let count = min(version.rawValue, UInt64(1 + random.below(3)))
        let base = BaseRecord(
            realm: realm.id, generation: realm.generation, version: version, entries: count, bytes: random.next(),
            historyBytes: random.next(), isComplete: random.below(3) == 0, createdAt: now)
        situation.bases.append(base)
        batch.bases.append(base)
        for version in 1...count { batch.history[base.historyKey, default: []].append(entry(version)) }
    }

    /// Completes a base, or drops one with its changesets.
    mutating func changeBase(_ index: Int) {
        let those = situation.bases.filter { base in
            base.realm == situation.realms[index].id && !batch.bases.contains(base)
        }
        guard var base = those.last else { return }
        if base.isComplete || random.below(3) == 0 {
            batch.historyTrims[base.historyKey] = base.lastEntry
            batch.baseRemovals.append(base)
            // The base's version stays taken in this batch: what is trimmed goes before what comes.
        } else {
            base.isComplete = true
            batch.bases.append(base)
        }
    }

    // MARK: Erasures

    /// Takes a realm or an app away, or goes on with that.
    mutating func erase(swept: inout Set<RealmID>) {
        let app = random.pick(SliceScope.apps)
        guard let erasure = situation.erasures.first, random.below(2) == 0 else {
            return erase(situation.realms[random.below(situation.realms.count)])
        }
        switch random.below(4) {
        case 0: batch.appErasures.append(AppErasureRecord(app: app, realms: random.below(9)))
        case 1 where !situation.realms.contains { $0.name.app == app }: batch.appRemovals.append(app)
        case 2:
            for var record in situation.erasures {
                record.reported += 1
                record.lastReported = FileIdent(UInt64(record.reported))
                record.isSwept = swept.contains(record.realm)
                batch.erasures.append(record)
            }
        default:
            guard erasure.isSwept else { return }
            swept.remove(erasure.realm)
            batch.erasureRemovals.append(erasure.realm)
        }
    }

    private mutating func erase(_ realm: RealmRecord) {
        batch.erasures.append(
            ErasureRecord(
                realm: realm.id, name: realm.name, generation: realm.generation, version: realm.latest.version,
                schema: realm.schema, nextIdent: realm.nextIdent, campaign: random.below(3) == 0 ? nil : name("e"),
                at: tick(), found: random.below(9)))
        situation.realms.removeAll { $0.id == realm.id }
        // The erased realm's name is free at once.
        guard random.below(2) == 0 else { return }
        batch.realms.append(
            RealmRecord(
                id: situation.nextRealm, name: realm.name, generation: realm.generation, salt: 3, saltEpoch: Epoch(1),
                nextIdent: realm.nextIdent))
        situation.nextRealm = RealmID(situation.nextRealm.value + 1)
    }
}
