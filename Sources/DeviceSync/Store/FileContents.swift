internal import GRDB
internal import RealmState
import SyncModel

/// What a realm's file has now; of its objects only where they are.
struct FileContents {
    var snapshot: RealmSnapshot
    /// The sync state; its rules are those of the snapshot's state.
    var sync: SyncFileState
    var subscriptions: SubscriptionSets
    /// The timestamp of the newest local entry.
    var lastTimestamp: SyncTimestamp
    /// Nil if none was ever declared.
    var schemaVersion: UInt64?

    /// - Parameter version: what the objects are read from; nil for a realm in memory, which keeps them to itself, and for a file of the
    ///   first form, whose objects are all loaded.
    init(_ database: Database, on version: FileVersion?) throws {
        sync = try .stored(in: database)
        var state = RealmState(
            schema: try database.storedSchema(), compatibility: sync.rules, indexingIncomingLinks: true, base: version)
        let form = FileForm(database)
        if try !form.isOrdered { try form.loadUnordered(into: &state) }
        snapshot = RealmSnapshot(state: state, version: try database.realmVersion())
        subscriptions = try SubscriptionRows(database).all()
        lastTimestamp = try HistoryRows(database).lastLocalTimestamp()
        schemaVersion = try database.number("schema_version")
    }
}
