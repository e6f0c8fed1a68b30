package import SyncModel

/// A realm that was taken away. Its heading goes when the erasure is recorded, so the name is free at once; what was stored under
/// its number goes afterwards, in steps.
///
/// The record stays for as long as clients of the erased realm may come back: each of them has to reset, and a realm of the same
/// name must not be taken for the old one.
package struct ErasureRecord: Sendable, Equatable {
    /// The erased realm's number.
    package var realm: RealmID
    package var name: RealmName
    package var generation: UInt64
    /// The realm's latest version: that of a realm of the same name begins above it, so that no session takes one for the other.
    package var version: ServerVersion
    /// The realm's schema, as `RealmRecord` has it: a realm of the same name begins with it. Clients whose classes were gone could
    /// not carry out their resets.
    package var schema: [UInt8]
    /// The idents below were given out, or lost by a restore: nobody gets them again under this name.
    package var nextIdent: FileIdent
    /// The campaign that accounts for the realm's clients; nil if nobody accounts for them, as of an app that is deleted.
    package var campaign: String?
    /// Milliseconds of Unix time.
    package var at: UInt64
    /// How many client realms the campaign is told of.
    package var found: Int
    /// How many of them it was told of so far, and the ident of the last.
    package var reported: Int
    package var lastReported: FileIdent
    /// Nothing is stored under the realm's number any more.
    package var isSwept: Bool

    package init(
        realm: RealmID, name: RealmName, generation: UInt64, version: ServerVersion, schema: [UInt8] = [],
        nextIdent: FileIdent,
        campaign: String?, at: UInt64, found: Int, reported: Int = 0, lastReported: FileIdent = 0, isSwept: Bool = false
    ) {
        self.realm = realm
        self.name = name
        self.generation = generation
        self.version = version
        self.schema = schema
        self.nextIdent = nextIdent
        self.campaign = campaign
        self.at = at
        self.found = found
        self.reported = reported
        self.lastReported = lastReported
        self.isSwept = isSwept
    }

    /// The idents that clients of the erased realm may have.
    package var idents: Range<FileIdent> { 2..<max(nextIdent, 2) }
}

/// An app that was deleted, as long as a slice still has something of it.
package struct AppErasureRecord: Sendable, Equatable {
    package var app: String
    /// Realms of the app that the slice has erased.
    package var realms: Int

    package init(app: String, realms: Int = 0) {
        self.app = app
        self.realms = realms
    }
}

/// How much is stored of a realm.
package struct RealmWeight: Codable, Sendable, Equatable {
    package var objects: Int
    /// Client realms that are live or have yet to reset.
    package var clientRealms: Int
    /// Bytes of objects and history.
    package var bytes: UInt64

    package init(objects: Int = 0, clientRealms: Int = 0, bytes: UInt64 = 0) {
        self.objects = objects
        self.clientRealms = clientRealms
        self.bytes = bytes
    }
}
