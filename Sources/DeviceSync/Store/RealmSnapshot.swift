internal import RealmState
import SyncModel

/// A realm's contents at one version: a value, which later commits do not change.
struct RealmSnapshot: Sendable {
    var state: RealmState
    var version: ClientVersion
}
