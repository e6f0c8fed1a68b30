import SyncModel
internal import SyncProtocol

// How a new subscription set gets into a realm's file.
extension RealmCore {
    /// - Parameter change: gives the new subscriptions; runs with the write lock held.
    func updateSubscriptions(_ change: () -> [Subscription]) throws -> QueryVersion {
        lock.lock()
        defer { lock.unlock() }
        return try commitSubscriptions(change())
    }

    /// Stores subscriptions as a new set; to be called with the write lock held.
    func commitSubscriptions(_ subscriptions: [Subscription]) throws -> QueryVersion {
        var version: QueryVersion = 0
        let snapshot = snapshot.version
        try setSubscriptions { version = $0.append(subscriptions, snapshot: snapshot) }
        return version
    }
}
