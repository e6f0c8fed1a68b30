package import Changesets
package import SyncModel

/// A version of a realm's history that is empty for everybody but one client file, whose copies of some objects it puts right. Of objects of
/// asymmetric classes clients have no copies: the version then only has its author told what was refused.
package struct CompensatingWrite: Equatable, Sendable {
    package var version: ServerVersion
    /// The client version whose writes it answers.
    package var clientVersion: ClientVersion
    /// Whether the client is told of what was refused: it is not where nobody has done wrong.
    package var isTold: Bool
    package var timestamp: SyncTimestamp
    /// The writes that were refused; empty if none were.
    package var refused: [RefusedWrite]
    /// The objects that it puts right: each is erased in the client's copy, and comes anew as it is when the client is sent that, if it is in
    /// the client's view by then.
    package var objects: [ObjectAddress]
    /// Whether the client has copies that are put right.
    package var undoes: Bool { !objects.isEmpty }

    package init(
        version: ServerVersion, clientVersion: ClientVersion, isTold: Bool = true, timestamp: SyncTimestamp,
        refused: [RefusedWrite], objects: [ObjectAddress]
    ) {
        self.version = version
        self.clientVersion = clientVersion
        self.isTold = isTold
        self.timestamp = timestamp
        self.refused = refused
        self.objects = objects
    }
}
