import SyncModel
internal import SyncProtocol

/// Makes a new subscription set in a realm's file.
struct SubscriptionUpdate {
    private let core: RealmCore

    init(_ core: RealmCore) { self.core = core }

    /// - Parameter change: gives the new subscriptions; runs with the write lock held.
    func run(_ change: () -> [Subscription]) throws -> QueryVersion {
        core.lock.lock()
        defer { core.lock.unlock() }
        return try commit(change())
    }

    /// With the write lock held.
    func commit(_ subscriptions: [Subscription]) throws -> QueryVersion {
        var version: QueryVersion = 0
        let snapshot = core.snapshot.version
        try core.setSubscriptions { version = $0.append(subscriptions, snapshot: snapshot) }
        return version
    }
}
