import SyncModel

extension Realm.Configuration {
    /// Subscribes to what a flexible realm begins with: runs the app's callback in an update of its own, if it is its turn.
    func subscribeInitially(in core: RealmCore) throws {
        guard let sync = syncConfiguration, isFlexible, let initial = sync.initialSubscriptions else { return }
        let isFirst = sync.user.core.sync.isFirstSubscribing(to: core)
        func isDue() -> Bool { core.subscriptions.latest.version == 0 || (initial.rerunOnOpen && isFirst) }
        guard isDue() else { return }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first.
        guard isDue() else { return }
        let set = SyncSubscriptionSet(RealmInstance(core: core, configuration: self, session: nil))
        _ = try core.commitSubscriptions(set.change { initial.callback(set) })
    }
}
