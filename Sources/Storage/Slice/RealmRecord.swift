package import Changesets
package import SyncModel

/// A realm's number in its slice; given out by the slice's owner and never reused.
package struct RealmID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var value: Int64
    package init(_ value: Int64) { self.value = value }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
    package var description: String { String(value) }
}

/// A realm's heading: everything about the realm but its objects, history and client files.
package struct RealmRecord: Sendable, Equatable {
    package var id: RealmID
    package var name: RealmName
    /// The sync generation of the history; behind the app's until the realm is next needed.
    package var generation: UInt64
    /// The latest version with the salt it was made under; `0, 0` for a realm without history.
    package var latest: SaltedServerVersion
    /// The salt of new versions. Every owner draws one, so that a store that was restored from a backup cannot issue a version
    /// number with the same salt again.
    package var salt: VersionSalt
    /// The epoch under which `salt` was drawn.
    package var saltEpoch: Epoch
    /// The version after which the history begins; earlier versions were compacted.
    package var historyBase: ServerVersion
    /// Bytes of all changesets of the history.
    package var historyBytes: UInt64
    /// The ident that the next client file gets; 1 is the server.
    package var nextIdent: FileIdent
    /// The schema and the counters that go with it, as `RealmState` encodes them.
    package var schema: [UInt8]
    /// The properties of a flexible realm that before images are kept of (`ImagedColumns`); else empty.
    package var imaged: [UInt8]
    /// The properties of a flexible realm that have indexes, and how far these are filled (`IndexedColumns`); else
    /// empty.
    package var indexed: [UInt8]
    /// The last changes that those who follow the app were told.
    package var told: ToldChanges
    /// The rules by which the state was made from the history: the app's, from the realm's first day.
    package let compatibility: PeerCompatibility
    /// Idents that may have been given out in a future that the slice was put back from: nobody gets them, and who has one must
    /// reset.
    package let lostIdents: Range<FileIdent>

    package init(
        id: RealmID, name: RealmName, generation: UInt64, latest: SaltedServerVersion = SaltedServerVersion(),
        salt: VersionSalt, saltEpoch: Epoch, historyBase: ServerVersion = 0, historyBytes: UInt64 = 0,
        nextIdent: FileIdent = 2,
        schema: [UInt8] = [], imaged: [UInt8] = [], indexed: [UInt8] = [],
        told: ToldChanges = ToldChanges(), compatibility: PeerCompatibility = .stockClients,
        lostIdents: Range<FileIdent> = 0..<0
    ) {
        self.id = id
        self.name = name
        self.generation = generation
        self.latest = latest
        self.salt = salt
        self.saltEpoch = saltEpoch
        self.historyBase = historyBase
        self.historyBytes = historyBytes
        self.nextIdent = nextIdent
        self.schema = schema
        self.imaged = imaged
        self.indexed = indexed
        self.told = told
        self.compatibility = compatibility
        self.lostIdents = lostIdents
    }
}

/// The sync generations that an app has had in a slice.
package struct AppGenerationRecord: Sendable, Equatable {
    package var app: String
    package var generation: UInt64
    /// The campaign that began it; nil for the first.
    package var campaign: String?
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(app: String, generation: UInt64, campaign: String?, at: UInt64) {
        self.app = app
        self.generation = generation
        self.campaign = campaign
        self.at = at
    }
}
