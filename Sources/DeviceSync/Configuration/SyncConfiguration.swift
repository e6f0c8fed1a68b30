/// How a realm is synced. Made by `User.configuration(partitionValue:)` and `User.flexibleSyncConfiguration()`.
@frozen public struct SyncConfiguration: Sendable {
    /// The user to whom the realm belongs.
    public let user: User
    /// The partition; nil for flexible sync.
    public let partitionValue: AnyBSON?
    /// The way in which the realm goes on when the server asks for a client reset.
    public let clientResetMode: ClientResetMode
    /// Whether a download before opening gives up at the first connection error.
    public let cancelAsyncOpenOnNonFatalErrors: Bool
    /// The subscriptions of a flexible realm when it is opened; nil for none.
    public let initialSubscriptions: InitialSubscriptionsConfiguration?

    init(
        user: User, partitionValue: AnyBSON?, clientResetMode: ClientResetMode, cancelAsyncOpenOnNonFatalErrors: Bool,
        initialSubscriptions: InitialSubscriptionsConfiguration? = nil
    ) {
        self.user = user
        self.partitionValue = partitionValue
        self.clientResetMode = clientResetMode.current
        self.cancelAsyncOpenOnNonFatalErrors = cancelAsyncOpenOnNonFatalErrors
        self.initialSubscriptions = initialSubscriptions
    }
}

/// The subscriptions of a flexible realm when it is opened.
@frozen public struct InitialSubscriptionsConfiguration: Sendable {
    /// Changes the subscriptions, inside an update.
    public let callback: @Sendable (SyncSubscriptionSet) -> Void
    /// Whether the callback runs at the first opening of each process, and not only as long as the realm never had
    /// subscriptions.
    public let rerunOnOpen: Bool
}
