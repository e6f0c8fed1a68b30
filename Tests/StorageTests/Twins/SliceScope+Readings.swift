import Storage
import SyncModel

/// Pages that are read beside everything, as large as a step's random numbers say.
struct SliceProbe: Sendable {
    var maxBytes: Int
    var limit: Int
    /// Whether all realms are listed, and not only one.
    var listsAll: Bool
    var time: UInt64
    var row: ObjectRow
    var values: [IndexRange]
}

extension SliceScope {
    /// Reads all that the contract lets anybody read, with pages and details of one realm.
    func everything(in store: any SliceStore, _ realm: RealmID, _ probe: SliceProbe) async throws -> [Reading] {
        try await contents(of: store, listing: probe.listsAll ? realms : [realm]) + pages(of: store, in: realm, probe)
            + agenda(of: store, probe)
            + upkeep(of: store, in: realm, probe)
    }

    /// Everything that a slice's content is, as far as its owner and others may read it: all of it by key, and some realms'
    /// once more in their order.
    func contents(of content: any SliceContent, listing: [RealmID]) async throws -> [Reading] {
        let found = try await content.read(lookup)
        var readings = [
            Reading("realms by name", found.realms), Reading("latest generations", found.appGenerations),
            Reading("client files by key", found.clientFiles), Reading("reset cases by key", found.resetCases),
            Reading("users' resets", found.users), Reading("bases", found.bases),
            Reading("objects by key", found.objects), Reading("digests", found.digests),
            Reading("reciprocals", found.reciprocals), Reading("seen messages", found.messages),
            Reading("reasons", found.reasons), Reading("apps' usage", found.appUsage),
            Reading("users' usage", found.userUsage),
        ]
        for (index, key) in histories.enumerated() { readings.append(Reading("history \(key)", found.history[index])) }
        readings.append(Reading("pages of histories", Array(found.history.dropFirst(histories.count))))
        readings.append(Reading("ownership", try await content.ownership()))
        readings.append(Reading("changes of owner", try await content.ownershipHistory(limit: .max)))
        readings.append(Reading("realms", try await content.realms(after: nil, limit: .max)))
        for realm in listing {
            let objects = try await content.objects(in: realm, after: nil, maxBytes: .max)
            readings.append(Reading("objects in \(realm)", objects.map { Stored(row: $0.row, body: $0.body) }))
            readings.append(
                Reading("entries in \(realm)", try await content.indexEntries(in: realm, after: nil, limit: .max)))
            readings.append(
                Reading(
                    "client files in \(realm)",
                    try await content.clientFiles(in: realm, state: nil, after: 0, limit: .max)))
        }
        return readings
    }

    /// What is read page by page, of one realm.
    func pages(of content: any SliceContent, in realm: RealmID, _ probe: SliceProbe) async throws -> [Reading] {
        let (row, maxBytes, limit) = (probe.row, probe.maxBytes, probe.limit)
        let objects = try await content.objects(in: realm, after: row, maxBytes: maxBytes)
        let table = try await content.objects(in: realm, of: row.table, after: nil, maxBytes: maxBytes)
        var query = IndexQuery(realm: realm, table: row.table, column: 1, ranges: probe.values)
        let first = try await content.objects(query, maxBytes: .max)
        let counted = try await content.countEntries(query, limit: limit)
        query.after = first.first.map { ($0.value, $0.row.key) }
        let entry = IndexEntry(row: row, column: 1, value: probe.values[0].low)
        return [
            Reading("page of objects in \(realm)", objects.map { Stored(row: $0.row, body: $0.body) }),
            Reading("page of a table in \(realm)", table.map { Stored(row: $0.row, body: $0.body) }),
            Reading("indexed in \(realm)", first), Reading("counted in \(realm)", counted),
            Reading("page of indexed in \(realm)", try await content.objects(query, maxBytes: maxBytes)),
            Reading(
                "page of entries in \(realm)", try await content.indexEntries(in: realm, after: entry, limit: limit)),
            Reading(
                "page of live client files in \(realm)",
                try await content.clientFiles(in: realm, state: .live, after: 2, limit: limit)),
            Reading("page of realms", try await content.realms(after: realm, limit: limit)),
            Reading("page of changes of owner", try await content.ownershipHistory(limit: limit)),
        ]
    }
}

/// An object as it is read.
private struct Stored: Equatable, Sendable {
    var row: ObjectRow
    var body: [UInt8]
}
