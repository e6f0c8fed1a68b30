/// One version of a realm's history.
package struct HistoryRecord: Sendable, Equatable {
    package var version: UInt64
    package var salt: UInt64
    /// The author's client file ident; 1 for the server.
    package var originFile: UInt64
    /// The version in the author's own numbering; 0 if the server is the author.
    package var clientVersion: UInt64
    /// Milliseconds since 2015-01-01T00:00:00Z, by the author's clock.
    package var timestamp: UInt64
    /// In normalized form; empty if the merge left nothing of the changeset.
    package var changeset: [UInt8]
    /// Bytes of all changesets of the history up to and including this one.
    package var cumulativeBytes: UInt64

    package init(
        version: UInt64, salt: UInt64, originFile: UInt64, clientVersion: UInt64, timestamp: UInt64,
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
    package var base: UInt64

    package init(realm: RealmID, generation: UInt64, base: UInt64 = 0) {
        self.realm = realm
        self.generation = generation
        self.base = base
    }
}
