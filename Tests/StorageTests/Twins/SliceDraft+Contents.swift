import SeededRandom
import Storage
import SyncModel

/// Changes of a realm's client files and objects.
extension SliceDraft {
    private func id(_ index: Int) -> RealmID { situation.realms[index].id }

    mutating func makeFile(_ index: Int) {
        let realm = situation.realms[index]
        var file = ClientFileRecord(
            realm: realm.id, file: ClientFileIdent(ident: realm.nextIdent, salt: FileSalt(random.next())),
            user: random.pick(SliceScope.users), generation: realm.generation, createdAt: now, lastSeen: tick(),
            connection: name("connection"), protocolVersion: 10, userAgent: "agent é\u{FFFE}", views: random.bytes(9))
        if random.below(2) == 0 {
            file.historyStart = ServerVersion(UInt64(random.below(Int(realm.latest.version.rawValue) + 1)))
        }
        situation.realms[index].nextIdent = FileIdent(realm.nextIdent.rawValue + 1)
        put(index)
        batch.clientFiles.append(file)
    }

    private func files(_ index: Int) -> [ClientFileRecord] { situation.files.filter { $0.realm == id(index) } }

    mutating func changeFile(_ index: Int) {
        let known = files(index)
        guard !known.isEmpty else { return makeFile(index) }
        var file = random.pick(known)
        guard random.below(10) > 0 else { return batch.clientFileRemovals.append(file.key) }
        let latest = Int(situation.realms[index].latest.version.rawValue)
        file.lastSeen = tick()
        file.upload = UploadCursor(
            clientVersion: ClientVersion(random.next()), serverVersion: ServerVersion(UInt64(random.below(latest + 1))))
        switch random.below(8) {
        case 0: file.state = .expired
        case 1:
            file.state = .superseded
            file.supersededBy = FileIdent(random.next())
        case 2:
            file.state = .resetRequired
            file.campaign = scope.campaigns.last
            file.mustDiscard = random.below(2) == 0
        case 3: (file.generation, file.resetOf) = (situation.realms[index].generation, 2)
        case 4: file.historyStart = situation.bases.last { $0.realm == file.realm }?.version
        case 5: file.user = random.pick(SliceScope.users)
        case 6 where random.below(2) == 0: file.ahead = random.below(3) == 0 ? nil : SyncTimestamp(random.next())
        case 6: (file.lockedServerVersion, file.seenServerVersion) = (1, ServerVersion(UInt64(latest)))
        default: file.state = .live
        }
        batch.clientFiles.append(file)
    }

    private mutating func owner(_ index: Int) -> ClientFileKey? {
        let keys = files(index).map(\.key)
        return keys.isEmpty ? nil : random.pick(keys)
    }

    mutating func changeReciprocals(_ index: Int) {
        guard let owner = owner(index) else { return }
        switch random.below(6) {
        case 0: batch.reciprocalResets.append(owner.realm)
        case 1: batch.reciprocalTrims[owner] = ServerVersion(UInt64(random.below(5)))
        default:
            for _ in 0...random.below(3) {
                let version = ServerVersion(UInt64(1 + random.below(6)))
                batch.reciprocals[owner, default: [:]][version] = random.bytes(50)
            }
        }
    }

    mutating func changeResetCase(_ index: Int) {
        guard let owner = owner(index) else { return }
        batch.resetCases.append(
            ResetCaseRecord(
                realm: owner.realm, identOld: owner.ident, user: random.pick(SliceScope.users),
                isOpen: random.below(3) > 0, dueAt: random.below(2) == 0 ? tick() : nil, body: random.bytes(20)))
    }

    // MARK: Objects

    mutating func putObjects(_ index: Int) {
        for _ in 0...random.below(8) {
            batch.objects[id(index), default: [:]][random.pick(SliceScope.rows)] = random.bytes(60)
        }
    }

    mutating func removeObjects(_ index: Int) {
        if random.below(5) == 0 { batch.tableRemovals[id(index)] = [UInt32(random.below(3))] }
        for _ in 0...random.below(4) {
            batch.objectRemovals[id(index), default: []].insert(random.pick(SliceScope.rows))
        }
    }

    mutating func changeIndex(_ index: Int) {
        for _ in 0...random.below(8) {
            let entry = IndexEntry(
                row: random.pick(SliceScope.rows), column: UInt32(random.below(2)),
                value: (0..<random.below(3)).map { _ in UInt8(random.below(4)) })
            if random.below(3) == 0 {
                batch.indexRemovals[id(index), default: []].insert(entry)
            } else {
                batch.indexEntries[id(index), default: []].insert(entry)
            }
        }
    }
}
