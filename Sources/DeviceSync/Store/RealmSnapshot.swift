internal import RealmState
import SyncModel

/// A realm's contents at one version, which later commits do not change.
final class RealmSnapshot: Sendable {
    let state: RealmState
    let version: ClientVersion

    init(state: RealmState, version: ClientVersion) {
        self.state = state
        self.version = version
    }
}
