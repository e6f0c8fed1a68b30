internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel

/// Everything that one commit changes; written in one SQLite transaction.
struct FileCommit {
    var version: ClientVersion
    var schema: StoredSchema?
    /// The version that the app gives its schema.
    var schemaVersion: UInt64?
    /// Set by `init(version:taking:)` alone, with the classes as they are after them.
    private(set) var changes: StateChanges?
    private var classes = StoredSchema()
    /// The whole of a state, for a file that has nothing.
    var copied: RealmState?
    var entry: HistoryEntry?
    var sync: SyncFileState?
    var subscriptions: SubscriptionChange?
    /// The stored bootstrap is in the realm now.
    var endsBootstrap = false
    var reciprocals: [(version: ClientVersion, changeset: [UInt8])] = []
    /// Forget entries that no download can have to be merged with any more.
    var trimsHistory = false
    /// Replace the whole history (docs/resets.md, "History afterwards").
    var history: [HistoryEntry]?
    var pendingReset: PendingResetChange = .keep
    /// A report on the client reset that this commit finishes.
    var resetOutcome: ResetOutcome?

    enum PendingResetChange {
        case keep, clear
        case set(PendingReset)
    }

    init(version: ClientVersion) { self.version = version }

    /// A version that takes over what has changed in `state`.
    init(version: ClientVersion, taking state: inout RealmState) {
        self.version = version
        let taken = state.takeChanges()
        if taken.schemaChanged { schema = state.schema }
        changes = taken
        classes = state.schema
    }

    /// The bytes, about, that the commit adds to the write-ahead log: each object is on a page of its own, as a rule.
    var logBytes: Int {
        let objects = (changes?.upserted.count ?? 0) + (changes?.erased.count ?? 0)
        let rewritten = reciprocals.reduce(0) { $0 + $1.changeset.count }
        return 16 << 10 + objects * 4 << 10 + (entry?.changeset.count ?? 0) + rewritten
    }

    /// Writes the commit's parts, each into its rows, in the transaction that the caller has open.
    /// - Parameter indexes: the properties that have index rows; nil for a realm in memory, which keeps its objects to itself.
    func write(to database: Database, indexes: IndexedProperties?) throws {
        try writeObjects(ObjectRows(database), indexes)
        if let schema { try database.setMeta("schema", Data(schema.encoded())) }
        if let schemaVersion { try database.setNumber("schema_version", schemaVersion) }
        try database.setNumber("version", version.rawValue)
        if let sync { try sync.store(in: database) }
        try writeHistory(HistoryRows(database))
        if let subscriptions { try SubscriptionRows(database).write(subscriptions) }
        if endsBootstrap { try BootstrapRows(database).discard() }
        try writeReset(ResetRows(database))
    }

    private func writeObjects(_ rows: ObjectRows, _ indexes: IndexedProperties?) throws {
        if let changes, let indexes { try rows.write(changes, classes, indexes) }
        if let copied { try rows.write(all: copied) }
    }

    private func writeHistory(_ rows: HistoryRows) throws {
        if let history { try rows.replaceAll(with: history) }
        try rows.setReciprocals(reciprocals)
        if let entry { try rows.insert(entry) }
        if trimsHistory, let sync { try rows.trim(upTo: sync.progress.download.clientVersion) }
    }

    private func writeReset(_ rows: ResetRows) throws {
        if let resetOutcome {
            try rows.setReport(.outcome, resetOutcome)
            try rows.setReport(.attempt, nil)
        }
        switch pendingReset {
        case .keep: break
        case .clear: try rows.clear()
        case .set(let record): try rows.set(record)
        }
    }
}
