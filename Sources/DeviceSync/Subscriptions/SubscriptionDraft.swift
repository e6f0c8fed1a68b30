internal import Foundation
internal import Synchronization

/// The subscriptions of a set while an update changes them, for the thread that the update runs on. All copies of a
/// `SyncSubscriptionSet` share one.
final class SubscriptionDraft: Sendable {
    private struct Contents {
        var subscriptions: [Subscription]
        var thread: pthread_t
    }
    private let contents = Mutex<Contents?>(nil)

    /// Nil outside of an update that runs on this thread.
    var subscriptions: [Subscription]? {
        let thread = pthread_self()
        return contents.withLock { $0.flatMap { $0.thread == thread ? $0.subscriptions : nil } }
    }

    /// Runs the app's block and returns what it made of the subscriptions. One update at a time, with the write lock held.
    func changing(_ subscriptions: [Subscription], _ block: () -> Void) -> [Subscription] {
        let thread = pthread_self()
        contents.withLock { $0 = Contents(subscriptions: subscriptions, thread: thread) }
        block()
        return contents.withLock { $0.take()?.subscriptions } ?? subscriptions
    }

    func change(_ body: (inout [Subscription]) -> Void) {
        guard var subscriptions else {
            preconditionFailure("subscriptions can be changed only inside of an update of their set")
        }
        body(&subscriptions)
        contents.withLock { $0?.subscriptions = subscriptions }
    }
}
