internal import Dispatch
internal import Synchronization

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

/// Who wants to hear that something about an app's users has changed.
final class UserListeners: Sendable {
    private struct Contents {
        var blocks: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }
    private let contents = Mutex(Contents())

    func add(_ block: @escaping @Sendable () -> Void) -> NotificationToken {
        let number = contents.withLock { contents in
            contents.last += 1
            contents.blocks[contents.last] = block
            return contents.last
        }
        return NotificationToken { [weak self] in self?.contents.withLock { $0.blocks[number] = nil } }
    }

    func changed() {
        let blocks = contents.withLock { Array($0.blocks.values) }
        for block in blocks { block() }
    }
}
