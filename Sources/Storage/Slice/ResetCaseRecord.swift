package import SyncModel

/// The record of one client realm's reset, in the worker's own encoding, with the columns by which a case is found.
package struct ResetCaseRecord: Sendable, Equatable {
    package var realm: RealmID
    package var identOld: FileIdent
    package var user: String
    /// False once nothing more is expected of the reset.
    package var isOpen: Bool
    /// When a tick must look at the case again (milliseconds of Unix time); nil if only events matter.
    package var dueAt: UInt64?
    package var body: [UInt8]

    package init(realm: RealmID, identOld: FileIdent, user: String, isOpen: Bool, dueAt: UInt64?, body: [UInt8]) {
        self.realm = realm
        self.identOld = identOld
        self.user = user
        self.isOpen = isOpen
        self.dueAt = dueAt
        self.body = body
    }

    package var key: ClientFileKey { ClientFileKey(realm: realm, ident: identOld) }
}
