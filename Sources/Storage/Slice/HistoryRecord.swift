package import SyncModel

/// One version of a realm's history as it is stored: the entry, with what only the server needs to know of it.
package struct HistoryRecord: Sendable, Equatable {
    package var entry: HistoryEntry
    /// The salt under which the version was made.
    package var salt: VersionSalt
    /// The bytes of all changesets of the history up to and including this version's.
    package var cumulativeBytes: UInt64
    /// The objects that the version of a flexible realm touches, as they were before it (`BeforeImages`); else empty.
    package var images: [UInt8]
    /// The message id of the published event that made the version; empty if no event did, or one without an id.
    package var event: String

    package init(
        _ entry: HistoryEntry, salt: VersionSalt, cumulativeBytes: UInt64, images: [UInt8] = [], event: String = ""
    ) {
        self.entry = entry
        self.salt = salt
        self.cumulativeBytes = cumulativeBytes
        self.images = images
        self.event = event
    }

    package var version: ServerVersion { entry.serverVersion }
}

/// Names one history of a realm: that of a generation, or a base, which has versions of its own. A new generation's history is
/// written beside the old one's before it takes its place.
package struct HistoryKey: Hashable, Sendable {
    package var realm: RealmID
    package var generation: UInt64
    /// The version at which the base has the realm (`BaseRecord`); 0 for the history itself.
    package var base: ServerVersion

    package init(realm: RealmID, generation: UInt64, base: ServerVersion = 0) {
        self.realm = realm
        self.generation = generation
        self.base = base
    }
}
