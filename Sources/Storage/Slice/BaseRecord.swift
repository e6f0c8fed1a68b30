package import SyncModel

/// A realm's state at a version, as synthetic changesets that make it from nothing: a new client gets them instead of the
/// history up to that version. They are kept as the versions 1 ... `entries` of a history of their own, `historyKey`.
package struct BaseRecord: Sendable, Equatable {
    package var realm: RealmID
    package var generation: UInt64
    /// The version of the realm's history that the base stands for: a client that has the base goes on after it.
    package var version: ServerVersion
    /// How many changesets the base has, never more than `version`.
    package var entries: UInt64
    /// The bytes of these changesets.
    package var bytes: UInt64
    /// Bytes of the history up to `version`, as `HistoryRecord.cumulativeBytes` counts them.
    package var historyBytes: UInt64
    /// False while the base is being written or dropped: then no client file may begin with it.
    package var isComplete: Bool
    /// Milliseconds of Unix time.
    package var createdAt: UInt64

    package init(
        realm: RealmID, generation: UInt64, version: ServerVersion, entries: UInt64 = 0, bytes: UInt64 = 0,
        historyBytes: UInt64, isComplete: Bool = false, createdAt: UInt64
    ) {
        self.realm = realm
        self.generation = generation
        self.version = version
        self.entries = entries
        self.bytes = bytes
        self.historyBytes = historyBytes
        self.isComplete = isComplete
        self.createdAt = createdAt
    }

    /// The last version of the base's own history.
    package var lastEntry: ServerVersion { ServerVersion(entries) }
    package var historyKey: HistoryKey { HistoryKey(realm: realm, generation: generation, base: version) }
}
