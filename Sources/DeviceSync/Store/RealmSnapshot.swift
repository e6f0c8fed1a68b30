internal import RealmState

/// A realm's contents at one version. A value: whoever holds it sees the same for ever.
struct RealmSnapshot: Sendable {
    var state: RealmState
    var version: UInt64
}
