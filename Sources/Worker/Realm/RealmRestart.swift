import Logging
import RealmState
import Storage
import SyncModel

/// Begins a realm's history anew from its state, as an app's new generation wants it: the state becomes versions 1 to k under a
/// new salt, made by the server.
///
/// The new history is written beside the old one in commits of bounded size; the last one puts it in the old one's place. A
/// restart that was interrupted begins again.
struct RealmRestart: SlicePart {
    let work: SliceWork

    func restart(_ context: RealmContext, generation: UInt64) async throws -> RealmContext {
        try await work.flush()
        var record = context.record
        let everything = ServerVersion(WireIntegerBounds.maximum)
        record.generation = generation
        record.salt = SliceWork.makeSalt()
        record.historyBase = 0
        let key = HistoryKey(realm: record.id, generation: generation)
        var history = StateHistory(key: key, salt: record.salt, timestamp: clock.changesetNow)
        var leftovers = [key: everything]
        let schema = context.state.schema
        try await history.write(
            record, schema, StateChangesets(schema: schema), from: store, pageBytes: 1 << 20
        ) { _, page in
            var page = page
            page.historyTrims = leftovers
            leftovers = [:]
            try await work.commit(page)
        }
        record.latest =
            history.latest == 0
            ? SaltedServerVersion() : SaltedServerVersion(version: history.latest, salt: record.salt)
        record.historyBytes = history.bytes
        var last = history.take()
        last.realms = [record]
        last.reciprocalResets = [record.id]
        last.historyTrims = leftovers
        last.historyTrims[context.historyKey] = everything
        try await work.commit(last)

        logger.info(
            "realm's history restarted from its state",
            metadata: [
                "app": "\(record.name.app)", "realm": "\(record.name.partition)", "generation": "\(generation)",
                "versions": "\(record.latest.version)",
            ])
        let fresh = RealmContext(record: record, schema: schema, limits: limits, sessions: context.sessions)
        work.memory.realms.use(fresh)
        return fresh
    }
}
