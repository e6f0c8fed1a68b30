import Changesets
import Storage
import SyncModel

extension MemorySlice {
    func find(_ lookup: SliceLookup) -> SliceFindings {
        var found = SliceFindings()
        for realm in realms.values where lookup.realms.contains(realm.name) { found.realms[realm.name] = realm }
        for app in lookup.appGenerations { found.appGenerations[app] = latestGeneration(of: app) }
        for key in lookup.clientFiles { found.clientFiles[key] = clientFiles[key] }
        for key in lookup.resetCases { found.resetCases[key] = resetCases[key] }
        for user in lookup.users { found.users[user] = resets(of: user) }
        for realm in lookup.bases { found.bases[realm] = bases[realm]?.values.sorted { $0.version < $1.version } ?? [] }
        for (realm, rows) in lookup.objects {
            let wanted = Set(rows)
            found.objects[realm] = objects[realm]?.filter { wanted.contains($0.key) } ?? [:]
        }
        found.history = lookup.history.map(versions)
        found.digests = lookup.digests.map { query in
            digests[query.key, default: []].filter { $0.through > query.after }
                .page(maxBytes: query.maxBytes) { $0.body.count }
        }
        found.reciprocals = lookup.reciprocals.map(changesets)
        found.messages = lookup.messages.intersection(seenIDs)
        found.reasons = reasons.filter { lookup.reasons.contains($0.key) }
        for app in lookup.appUsage { found.appUsage[app] = usage(ofApp: app) }
        for user in lookup.userUsage { found.userUsage[user] = usage[user] }
        return found
    }

    private func usage(ofApp app: String) -> AppUsage {
        let those = Set(realms.values.filter { $0.name.app == app }.map(\.id))
        let stored = objects.filter { those.contains($0.key) }.values.joined().reduce(0) { $0 + $1.value.count }
        let versions = history.filter { those.contains($0.key.realm) }.values.flatMap(\.values)
        return AppUsage(
            realms: those.count, clientFiles: clientFiles.keys.count { those.contains($0.realm) },
            bytes: stored + versions.reduce(0) { $0 + $1.entry.changeset.count + $1.images.count }
                + clientFiles.filter { those.contains($0.key.realm) }.reduce(0) { $0 + $1.value.views.count })
    }

    func latestGeneration(of app: String) -> AppGenerationRecord? {
        generations[app]?.values.max { $0.generation < $1.generation }
    }

    private func resets(of user: RealmUser) -> SliceFindings.UserResets {
        var found = SliceFindings.UserResets()
        let cases = resetCases.values.filter { $0.realm == user.realm && $0.user == user.user && $0.isOpen }
        let known = realms[user.realm].flatMap { generations[$0.name.app] } ?? [:]
        let latest = known.values.filter { $0.campaign != nil }.map(\.generation).max() ?? 0
        let files = clientFiles.values.filter {
            $0.realm == user.realm && $0.user == user.user
                && ($0.state == .resetRequired || $0.state == .live && $0.generation < latest)
        }
        found.openCases = Array(
            cases.sorted { $0.identOld > $1.identOld }.prefix(SliceFindings.UserResets.limit))
        found.waiting = Array(
            files.sorted { ($0.lastSeen, $0.ident) > ($1.lastSeen, $1.ident) }.prefix(SliceFindings.UserResets.limit))
        return found
    }

    private func versions(_ query: HistoryQuery) -> [HistoryRecord] {
        let records = history[query.key, default: [:]]
        let wanted: [HistoryRecord] =
            switch query.versions {
            case .range(let after, let through):
                records.values.filter { $0.version > after && $0.version <= through }
                    .sorted { $0.version < $1.version }
            case .these(let versions): versions.compactMap { records[$0] }
            }
        return wanted.map { record in
            var record = record
            if query.omitsChangesets {
                record.entry.changeset = []
                record.images = []
            }
            return record
        }.page(maxBytes: query.maxBytes) { $0.entry.changeset.count }
    }

    private func changesets(_ query: ReciprocalQuery) -> [ServerVersion: [UInt8]]? {
        let stored = reciprocals[query.owner, default: [:]]
        switch query.versions {
        case .after(let version, let maxBytes):
            let later = stored.filter { $0.key > version }
            let bytes = later.reduce(0) { $0 + $1.value.count + HistoryQuery.overhead }
            return bytes <= maxBytes ? later : nil
        case .these(let versions): return stored.filter { versions.contains($0.key) }
        }
    }

    /// A realm's objects in their order.
    func objects(in realm: RealmID, of table: UInt32?, after: ObjectRow?) -> [(row: ObjectRow, body: [UInt8])] {
        func place(_ row: ObjectRow) -> (UInt32, [UInt8]) { (row.table, row.key.detachedEncoding()) }
        func isBefore(_ left: (UInt32, [UInt8]), _ right: (UInt32, [UInt8])) -> Bool {
            left.0 == right.0 ? left.1.lexicographicallyPrecedes(right.1) : left.0 < right.0
        }
        let start = after.map(place)
        return objects[realm, default: [:]].filter { table == nil || $0.key.table == table }.map {
            (place: place($0.key), row: $0.key, body: $0.value)
        }
        .filter { object in start.map { isBefore($0, object.place) } ?? true }
        .sorted { isBefore($0.place, $1.place) }
        .map { ($0.row, $0.body) }
    }
}

extension Sequence {
    /// The first elements, at least one if there is one, until `maxBytes` are reached.
    func page(maxBytes: Int, _ bytes: (Element) -> Int) -> [Element] {
        var page: [Element] = []
        var total = 0
        for element in self {
            guard total < maxBytes || page.isEmpty else { break }
            total += bytes(element) + HistoryQuery.overhead
            page.append(element)
        }
        return page
    }
}
