import SyncModel
internal import SyncProtocol

/// What the configuration of a flexible realm subscribes to when the realm is opened.
struct InitialSubscriptions {
    private let core: RealmCore
    private let configuration: Realm.Configuration

    init(_ core: RealmCore, _ configuration: Realm.Configuration) {
        self.core = core
        self.configuration = configuration
    }

    /// Runs the app's callback in an update of its own, if it is its turn.
    func run() throws {
        guard let sync = configuration.syncConfiguration, configuration.isFlexible,
            let initial = sync.initialSubscriptions
        else { return }
        let isFirst = sync.user.core.sync.isFirstSubscribing(to: core)
        func isDue() -> Bool { core.subscriptions.latest.version == 0 || (initial.rerunOnOpen && isFirst) }
        guard isDue() else { return }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first.
        guard isDue() else { return }
        let set = SyncSubscriptionSet(RealmInstance(core: core, configuration: configuration, session: nil))
        _ = try SubscriptionUpdate(core).commit(set.change { initial.callback(set) })
    }
}
