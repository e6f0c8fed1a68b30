package import SyncModel

/// The rights of a session in its realm, and by which rules that was decided.
///
/// A gateway decides when the session begins and whenever rules or the user change; it stands in everything that the session asks
/// of the realm's owner. So the owner needs no user to know what an upload may do, and sees when it was let in under rules
/// that no longer hold.
package struct SessionRights: Codable, Sendable, Equatable {
    package var rights: PartitionRights
    /// The version of the app's rules.
    package var rulesVersion: UInt64
    /// The version of the app's users at which the user's record was read. Nil from a gateway of a version that does not say.
    package var usersVersion: UInt64?

    package init(_ rights: PartitionRights, rulesVersion: UInt64, usersVersion: UInt64? = nil) {
        self.rights = rights
        self.rulesVersion = rulesVersion
        self.usersVersion = usersVersion
    }
}
