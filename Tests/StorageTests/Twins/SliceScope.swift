import Changesets
import Storage
import SyncModel

/// What a random run has named so far, and so what can be read of its slice.
struct SliceScope: Sendable {
    static let apps = ["tasks", "notes", "Notes-2"]
    static let partitions = ["\"p\"", "17", "null", "\"ä\\n'%_\u{FFFE}\""]
    static let users = ["u", "o'\"x", "\u{FFFE}0", "日本 \u{1F33B}"]
    static let names = apps.flatMap { app in partitions.map { RealmName(app: app, partition: $0) } }
    static let messages = (0..<12).map { "m\($0)" }
    static let rows = (0..<3 as Range<UInt32>).flatMap { table in
        [
            .null, .int(-7), .int(0), .int(.max), .string(ByteString("")), .string(ByteString("ab")),
            .string(ByteString(String(repeating: "z", count: 1_200))), .globalKey(high: 1, low: .max),
            .objectID(ObjectIDValue(high: .max, low: 2)), .uuid(UUIDValue(high: 3, low: .max)),
        ].map { ObjectRow(table: table, key: $0) }
    }

    var realms: [RealmID] = []
    var histories: [HistoryKey] = []
    var files: [ClientFileKey] = []
    var campaigns: [String] = []

    mutating func note(_ batch: SliceBatch) {
        realms = (realms + batch.realms.map(\.id)).once
        histories = (histories + batch.history.keys + batch.historyDigests.map(\.key)).once
        files = (files + batch.clientFiles.map(\.key) + batch.reciprocals.keys + batch.resetCases.map(\.key)).once
        campaigns = (campaigns + batch.terminations.compactMap(\.campaign) + batch.erasures.compactMap(\.campaign)).once
    }

    /// Everything that is read by its key.
    var lookup: SliceLookup {
        let ranges = histories.map { HistoryQuery(key: $0, versions: .range(after: 0, through: 10_000)) }
        let some = histories.flatMap { key in
            [
                HistoryQuery(key: key, versions: .range(after: 1, through: 9), maxBytes: 90),
                HistoryQuery(key: key, versions: .these([2, 3, 5, 8]), maxBytes: 80),
                HistoryQuery(key: key, versions: .these([1, 4]), omitsChangesets: true),
            ]
        }
        let digests = histories.flatMap { key in
            [DigestQuery(key: key, after: 0, maxBytes: .max), DigestQuery(key: key, after: 3, maxBytes: 60)]
        }
        let reciprocals = files.flatMap { file in
            [
                ReciprocalQuery(owner: file, versions: .after(0, maxBytes: .max)),
                ReciprocalQuery(owner: file, versions: .after(2, maxBytes: 100)),
                ReciprocalQuery(owner: file, versions: .these([1, 3, 4])),
            ]
        }
        return SliceLookup(
            realms: Set(Self.names), appGenerations: Set(Self.apps), clientFiles: Set(files), resetCases: Set(files),
            users: Set(realms.flatMap { realm in Self.users.map { RealmUser(realm: realm, user: $0) } }),
            bases: Set(realms), objects: Dictionary(uniqueKeysWithValues: realms.map { ($0, Self.rows) }),
            history: ranges + some, digests: digests, reciprocals: reciprocals, messages: Set(Self.messages),
            reasons: Set(campaigns), appUsage: Set(Self.apps), userUsage: Set(Self.appUsers))
    }

    static let appUsers = apps.flatMap { app in users.map { AppUser(app: app, user: $0) } }
}

extension Array where Element: Hashable {
    /// The elements, each where it comes first.
    fileprivate var once: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
