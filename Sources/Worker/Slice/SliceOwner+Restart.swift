import Changesets
import Logging
import Merge
import Messages
import RealmState
import Storage
import SyncModel

extension SliceOwner {
    /// Begins a realm's history anew from its state, as an app's new generation wants it: the state becomes versions 1 to k
    /// under a new salt, made by the server.
    ///
    /// The new history is written beside the old one in commits of bounded size; the last one puts it in the old one's
    /// place. A restart that was interrupted begins again.
    func restart(_ context: RealmContext, generation: UInt64) async throws -> RealmContext {
        try await flush()
        var record = context.record
        let old = context.historyKey
        let new = HistoryKey(realm: record.id, generation: generation)
        let everything = ServerVersion(WireIntegerBounds.maximum)
        var stage = SliceBatch()
        stage.historyTrims = [new: everything]

        record.generation = generation
        record.salt = VersionSalt(Self.makeSalt())
        record.latest = SaltedServerVersion()
        record.historyBase = 0
        record.historyBytes = 0
        let timestamp = clock.changesetNow
        var digests = DigestWriter(key: new, after: 0)

        func append(_ changeset: Changeset) {
            let bytes = changeset.encoded()
            guard !bytes.isEmpty else { return }
            record.latest = SaltedServerVersion(version: record.latest.version + 1, salt: record.salt)
            record.historyBytes += UInt64(bytes.count)
            digests.append(origin: 1, Touches(of: CollectionOfOne(changeset)))
            let entry = HistoryEntry(
                serverVersion: record.latest.version, clientVersion: 0, originFile: .server, timestamp: timestamp,
                changeset: bytes)
            stage.history[new, default: []].append(
                HistoryRecord(entry, salt: record.salt, cumulativeBytes: record.historyBytes))
        }

        let schema = context.state.schema
        append(schema.tables.isEmpty ? Changeset() : StateChangesets(schema: schema).schemaChangeset())
        var builder = StateChangesets(schema: schema)
        var last: ObjectRow?
        while true {
            let page = try await store.objects(in: record.id, after: last, maxBytes: 1 << 20)
            guard let end = page.last else { break }
            for (row, body) in page {
                // A row without its table is what an interrupted removal would leave; there is none such.
                guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
                let address = ObjectAddress(table.name, row.key)
                for changeset in builder.append(address, try storedObject(body, context)) { append(changeset) }
            }
            last = end.row
            stage.historyDigests = digests.take()
            try await commit(stage)
            stage = SliceBatch()
        }
        if let rest = builder.finish() { append(rest) }
        stage.realms = [record]
        stage.historyDigests = digests.take()
        stage.reciprocalResets = [record.id]
        stage.historyTrims[old] = everything
        try await commit(stage)

        logger.info(
            "realm's history restarted from its state",
            metadata: [
                "app": "\(record.name.app)", "realm": "\(record.name.partition)", "generation": "\(generation)",
                "versions": "\(record.latest.version)",
            ])
        let fresh = RealmContext(record: record, schema: schema, limits: limits)
        fresh.sessions = context.sessions
        realms.use(fresh)
        return fresh
    }
}
