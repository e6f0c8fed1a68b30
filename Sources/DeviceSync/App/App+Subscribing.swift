internal import Dispatch

/// Keeps a block of `App.subscribe(_:)` alive.
public final class AppSubscriptionToken: Sendable {
    private let token: NotificationToken

    init(_ token: NotificationToken) { self.token = token }

    /// Ends the calls, as releasing this does.
    public func unsubscribe() { token.invalidate() }
}

extension App {
    /// Calls `block` on the callback queue after a user has logged in or out, was removed or linked, or another one became the current user.
    /// - Returns: a token to keep for as long as `block` is to be called.
    public func subscribe(_ block: @escaping @Sendable (App) -> Void) -> AppSubscriptionToken {
        AppSubscriptionToken(
            core.userListeners.add { [self] in core.syncManager.callbackQueue.async { block(self) } })
    }
}
