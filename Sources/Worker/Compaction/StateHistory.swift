import Changesets
import Merge
import RealmState
import Storage
import SyncModel

/// A realm's state as a history that the server has written: the schema, then the objects, page by page.
struct StateHistory {
    let key: HistoryKey
    private let salt: VersionSalt
    private let timestamp: SyncTimestamp
    private(set) var latest: ServerVersion = 0
    private(set) var bytes: UInt64 = 0
    private var digests: DigestWriter
    private var history: [HistoryRecord] = []

    init(key: HistoryKey, salt: VersionSalt, timestamp: SyncTimestamp) {
        self.key = key
        self.salt = salt
        self.timestamp = timestamp
        digests = DigestWriter(key: key, after: 0)
    }

    /// Goes through the state of a realm, and calls `step` with what each page of it has added to the history.
    mutating func write(
        _ realm: RealmRecord, _ schema: Schema, _ builder: StateChangesets, from content: any SliceContent,
        pageBytes: Int, _ step: (StateHistory, SliceBatch) async throws -> Void
    ) async throws {
        var walk = StateWalk(realm: realm, schema: schema, builder: builder)
        while try await write(&walk, from: content, pageBytes: pageBytes) { try await step(self, take()) }
    }

    /// Adds the next page of a realm's state.
    ///
    /// - Returns: whether there may be another.
    mutating func write(
        _ walk: inout StateWalk, from content: any SliceContent, pageBytes: Int
    ) async throws -> Bool {
        if walk.last == nil, !walk.schema.tables.isEmpty {
            append(StateChangesets(schema: walk.schema).schemaChangeset())
        }
        let page = try await content.objects(in: walk.realm.id, after: walk.last, maxBytes: pageBytes)
        guard let end = page.last else {
            if let rest = walk.builder.finish() { append(rest) }
            return false
        }
        for (row, body) in page {
            // A row without its table is what an interrupted removal would leave; there is none such.
            guard let table = walk.schema.table(TableID(rawValue: row.table)) else { continue }
            let object = try SliceWork.object(body, of: walk.realm.name)
            for changeset in walk.builder.append(ObjectAddress(table.name, row.key), object) { append(changeset) }
        }
        walk.last = end.row
        return true
    }

    /// What has been added since this was last asked for.
    mutating func take() -> SliceBatch {
        var batch = SliceBatch()
        if !history.isEmpty { batch.history[key] = history }
        batch.historyDigests = digests.take()
        history = []
        return batch
    }

    private mutating func append(_ changeset: Changeset) {
        let body = changeset.encoded()
        guard !body.isEmpty else { return }
        latest += 1
        bytes += UInt64(body.count)
        digests.append(origin: .server, Touches(of: CollectionOfOne(changeset)))
        let entry = HistoryEntry(
            serverVersion: latest, clientVersion: 0, originFile: .server, timestamp: timestamp, changeset: body)
        history.append(HistoryRecord(entry, salt: salt, cumulativeBytes: bytes))
    }
}

/// How far somebody has come who goes through the state of a realm.
struct StateWalk {
    let realm: RealmRecord
    let schema: Schema
    var builder: StateChangesets
    /// The last object that was seen.
    var last: ObjectRow?
}
