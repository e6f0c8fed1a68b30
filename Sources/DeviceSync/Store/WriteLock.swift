internal import Dispatch
internal import Foundation
internal import Synchronization

/// Lets one writer at a time into a realm, in the order in which they asked. A transaction may end on another thread
/// than it began on.
///
/// Code that asks for the lock again before it can let go of it would wait for itself: that traps.
final class WriteLock: Sendable {
    /// Code that can certainly not end the transaction while it waits for the lock itself.
    private enum Holder: Equatable {
        /// The transaction is a block that runs on this thread.
        case thread(pthread_t)
        /// The transaction was begun in this task, by its hash.
        case task(Int)
    }

    private struct Contents {
        var isHeld = false
        /// Nil if another thread or task may end the transaction.
        var holder: Holder?
        var waiting: [@Sendable () -> Void] = []
    }
    private let contents = Mutex(Contents())

    /// How many ask for the lock and do not have it yet.
    var waitingCount: Int { contents.withLock { $0.waiting.count } }

    /// Waits for the lock, which the calling thread lets go of before it does anything else.
    func lock() {
        wait()
        setHolder(isBlock: true)
    }

    /// Waits for the lock, which some later code of the caller lets go of.
    func lockForLater() {
        wait()
        setHolder(isBlock: false)
    }

    /// Waits for the lock without blocking the thread.
    func lockWithoutBlocking() async {
        await withCheckedContinuation { continuation in
            if take(orWait: { continuation.resume() }) { continuation.resume() }
        }
    }

    /// Runs a part of the transaction of a caller that has the lock. The part may end the transaction.
    /// - Parameter isHeld: whether the caller still has the lock after the part.
    func run<Result>(_ block: () throws -> Result, isHeld: () -> Bool) rethrows -> Result {
        setHolder(isBlock: true)
        defer { if isHeld() { contents.withLock { $0.holder = nil } } }
        return try block()
    }

    func unlock() {
        let next = contents.withLock { contents -> (@Sendable () -> Void)? in
            contents.holder = nil
            contents.isHeld = !contents.waiting.isEmpty
            return contents.isHeld ? contents.waiting.removeFirst() : nil
        }
        next?()
    }

    private func wait() {
        let semaphore = DispatchSemaphore(value: 0)
        if !take(orWait: { semaphore.signal() }) { semaphore.wait() }
    }

    /// - Returns: whether the caller has the lock now; if not, `resume` is called when it has.
    private func take(orWait resume: @escaping @Sendable () -> Void) -> Bool {
        let callers = [Holder.thread(pthread_self()), Self.task]
        return contents.withLock { contents in
            precondition(
                contents.holder.map { !callers.contains($0) } ?? true,
                "the realm is already in a write transaction, begun by the same code through another Realm of the same "
                    + "file: a nested write would wait for itself for ever")
            if contents.isHeld { contents.waiting.append(resume) }
            defer { contents.isHeld = true }
            return !contents.isHeld
        }
    }

    private func setHolder(isBlock: Bool) {
        // The main thread runs one thing after the other. Other threads may be a pool's, and run something else before the
        // transaction's end.
        let thread = isBlock || Thread.isMainThread ? Holder.thread(pthread_self()) : nil
        let holder = isBlock ? thread : Self.task ?? thread
        contents.withLock { $0.holder = holder }
    }

    private static var task: Holder? { withUnsafeCurrentTask { $0.map { .task($0.hashValue) } } }
}
