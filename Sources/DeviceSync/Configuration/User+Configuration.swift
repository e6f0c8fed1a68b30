internal import SyncProtocol

extension User {
    /// The configuration of this user's realm for one partition.
    ///
    /// `partitionValue` is a `String`, `Int`, `ObjectId`, `UUID` or null; any other type traps.
    public func configuration<T: BSON>(
        partitionValue: T,
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
        cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        configuration(
            partitionValue: partitionValue.asBSON, clientResetMode: clientResetMode,
            cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
    }

    /// The configuration of this user's realm for one partition.
    public func configuration(
        partitionValue: AnyBSON,
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
        cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        guard let partition = PartitionValue(partitionValue) else {
            preconditionFailure("a partition value is a String, Int, ObjectId, UUID or null")
        }
        return Realm.Configuration(
            fileURL: core.layout.realmFile(userID: id, target: .partition(partition)),
            syncConfiguration: SyncConfiguration(
                user: self, partitionValue: partitionValue, clientResetMode: clientResetMode,
                cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors))
    }

    /// The configuration of this user's realm of an app in flexible mode: it has what its subscriptions select.
    public func flexibleSyncConfiguration(
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(), cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        flexibleConfiguration(clientResetMode, cancelAsyncOpenOnNonFatalErrors, nil)
    }

    /// The configuration of this user's realm of an app in flexible mode, with subscriptions to begin with.
    ///
    /// `initialSubscriptions` runs when the realm is opened and never had subscriptions, inside an update of its own. With
    /// `rerunOnOpen` it runs at the first opening of each process too. An opening that downloads first waits for what it
    /// subscribes to.
    @preconcurrency
    public func flexibleSyncConfiguration(
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(), cancelAsyncOpenOnNonFatalErrors: Bool = false,
        initialSubscriptions: @escaping @Sendable (SyncSubscriptionSet) -> Void, rerunOnOpen: Bool = false
    ) -> Realm.Configuration {
        flexibleConfiguration(
            clientResetMode, cancelAsyncOpenOnNonFatalErrors,
            InitialSubscriptionsConfiguration(callback: initialSubscriptions, rerunOnOpen: rerunOnOpen))
    }

    private func flexibleConfiguration(
        _ mode: ClientResetMode, _ cancels: Bool, _ initial: InitialSubscriptionsConfiguration?
    ) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: core.layout.realmFile(userID: id, target: .flexible),
            syncConfiguration: SyncConfiguration(
                user: self, partitionValue: nil, clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: cancels,
                initialSubscriptions: initial))
    }
}
