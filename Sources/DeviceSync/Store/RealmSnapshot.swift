internal import RealmState
import SyncModel

/// A realm's contents at one version, which later commits do not change.
final class RealmSnapshot: Sendable {
    let state: RealmState
    let version: ClientVersion

    /// Whether the version is a name for what a commit under way is about to make.
    var isProvisional: Bool { version.rawValue > .max / 2 }

    init(state: RealmState, version: ClientVersion) {
        self.state = state
        self.version = version
    }
}
