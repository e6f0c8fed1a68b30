/// How a realm is synced. Made by `User.configuration(partitionValue:)`.
@frozen public struct SyncConfiguration: Sendable {
    /// Whose realm it is.
    public let user: User
    /// The partition; nil for flexible sync.
    public let partitionValue: AnyBSON?
    /// What to do when the server asks for a client reset.
    public let clientResetMode: ClientResetMode
    /// Whether a download before opening gives up at the first connection error.
    public let cancelAsyncOpenOnNonFatalErrors: Bool

    init(user: User, partitionValue: AnyBSON?, clientResetMode: ClientResetMode, cancelAsyncOpenOnNonFatalErrors: Bool)
    {
        self.user = user
        self.partitionValue = partitionValue
        self.clientResetMode = clientResetMode.current
        self.cancelAsyncOpenOnNonFatalErrors = cancelAsyncOpenOnNonFatalErrors
    }
}
