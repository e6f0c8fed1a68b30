package import SyncModel

/// One version of a realm's history.
package struct HistoryRecord: Sendable, Equatable {
    package var version: ServerVersion
    package var salt: VersionSalt
    /// The author's client file ident; 1 for the server.
    package var originFile: FileIdent
    /// The version in the author's own numbering; 0 if the server is the author.
    package var clientVersion: ClientVersion
    /// Milliseconds since 2015-01-01T00:00:00Z, by the author's clock.
    package var timestamp: SyncTimestamp
    /// In normalized form; empty if the merge left nothing of the changeset.
    package var changeset: [UInt8]
    /// Bytes of all changesets of the history up to and including this one.
    package var cumulativeBytes: UInt64

    package init(
        version: ServerVersion, salt: VersionSalt, originFile: FileIdent, clientVersion: ClientVersion,
        timestamp: SyncTimestamp,
        changeset: [UInt8], cumulativeBytes: UInt64
    ) {
        self.version = version
        self.salt = salt
        self.originFile = originFile
        self.clientVersion = clientVersion
        self.timestamp = timestamp
        self.changeset = changeset
        self.cumulativeBytes = cumulativeBytes
    }
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
