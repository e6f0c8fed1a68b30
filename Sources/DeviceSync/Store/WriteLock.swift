internal import Dispatch
internal import Foundation
internal import Synchronization

/// Lets one writer at a time into a realm, in the order in which they asked; threads that wait come before callers that wait without blocking one. A transaction may
/// end on another thread than it began on.
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

    /// A caller that does not block while it waits.
    ///
    /// It gets the lock only once it runs, on its actor or queue: code that runs there before it may be waiting for the lock with its thread, and would keep the caller
    /// from ever letting go of it.
    private struct Caller {
        let ticket: UInt64
        /// Nil while the caller looks whether it can have the lock.
        var resume: (@Sendable () -> Void)?
    }

    private struct Contents {
        var isHeld = false
        /// Nil if another thread or task may end the transaction.
        var holder: Holder?
        /// Threads that are blocked.
        var threads: [@Sendable () -> Void] = []
        var callers: [Caller] = []
        var lastTicket: UInt64 = 0

        /// Traps if it is the caller itself that it would wait for.
        func check(_ callers: [Holder?]) {
            precondition(holder.map { !callers.contains($0) } ?? true, WriteLock.nestedMessage)
        }
    }
    private let contents = Mutex(Contents())

    /// What a caller is told that would wait for itself.
    static let nestedMessage =
        "the realm is already in a write transaction, begun by the same code: a nested write would wait for itself for ever. Ask "
        + "isInWriteTransaction first"

    /// Whether somebody else than the caller has the lock, as far as that is known.
    /// - Parameter task: the hash of a task for which the caller acts.
    func isHeldByAnother(than task: Int? = nil) -> Bool {
        let here = Self.here + [task.map { Holder.task($0) }]
        return contents.withLock { contents in contents.holder.map { !here.contains($0) } ?? false }
    }

    /// How many ask for the lock and do not have it yet.
    var waitingCount: Int { contents.withLock { $0.threads.count + $0.callers.count } }

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
    func lockWithoutBlocking(isolation: isolated (any Actor)? = #isolation) async {
        let here = Self.here
        contents.withLock { $0.check(here) }
        let ticket = ask()
        while !take(ticket) {
            await withCheckedContinuation { continuation in
                if !wait(ticket, { continuation.resume() }) { continuation.resume() }
            }
        }
    }

    /// Runs `body` at a place, with the lock, once it is free. The caller does not wait, so it may hold the lock itself.
    func whenLocked(at place: DeliveryPlace, _ body: @escaping @Sendable () -> Void) {
        attempt(ask(), at: place, body)
    }

    private func attempt(_ ticket: UInt64, at place: DeliveryPlace, _ body: @escaping @Sendable () -> Void) {
        place.async { [self] in
            if take(ticket) { return body() }
            if !wait(ticket, { [self] in attempt(ticket, at: place, body) }) { attempt(ticket, at: place, body) }
        }
    }

    /// Runs a part of the transaction of a caller that has the lock. The part may end the transaction.
    /// - Parameter isHeld: whether the caller still has the lock after the part.
    func run<Result>(_ block: () throws -> Result, isHeld: () -> Bool) rethrows -> Result {
        setHolder(isBlock: true)
        defer { if isHeld() { contents.withLock { $0.holder = nil } } }
        return try block()
    }

    /// Notes that other code than what has the lock now is going to let go of it.
    func passOn() { contents.withLock { $0.holder = nil } }

    func unlock() {
        let next = contents.withLock { contents -> (@Sendable () -> Void)? in
            contents.holder = nil
            contents.isHeld = !contents.threads.isEmpty
            if contents.isHeld { return contents.threads.removeFirst() }
            guard !contents.callers.isEmpty else { return nil }
            return contents.callers[0].resume.take()
        }
        next?()
    }

    // MARK: Threads

    private func wait() {
        let semaphore = DispatchSemaphore(value: 0)
        if !take(orWait: { semaphore.signal() }) { semaphore.wait() }
    }

    /// - Returns: whether the caller has the lock now; if not, `resume` is called when it has.
    private func take(orWait resume: @escaping @Sendable () -> Void) -> Bool {
        let here = Self.here
        return contents.withLock { contents in
            contents.check(here)
            if contents.isHeld { contents.threads.append(resume) }
            defer { contents.isHeld = true }
            return !contents.isHeld
        }
    }

    // MARK: Callers that do not block

    private func ask() -> UInt64 {
        contents.withLock { contents in
            contents.lastTicket += 1
            contents.callers.append(Caller(ticket: contents.lastTicket))
            return contents.lastTicket
        }
    }

    /// - Returns: whether the caller has the lock now.
    private func take(_ ticket: UInt64) -> Bool {
        contents.withLock { contents in
            guard !contents.isHeld, contents.callers.first?.ticket == ticket else { return false }
            contents.callers.removeFirst()
            contents.isHeld = true
            return true
        }
    }

    /// - Returns: false if it is the caller's turn; if not, `resume` is called when it is.
    private func wait(_ ticket: UInt64, _ resume: @escaping @Sendable () -> Void) -> Bool {
        contents.withLock { contents in
            guard contents.isHeld || contents.callers.first?.ticket != ticket,
                let position = contents.callers.firstIndex(where: { $0.ticket == ticket })
            else { return false }
            contents.callers[position].resume = resume
            return true
        }
    }

    // MARK: Who holds it

    private func setHolder(isBlock: Bool) {
        // The main thread runs one thing after the other. Other threads may be a pool's, and run something else before the
        // transaction's end.
        let thread = isBlock || Thread.isMainThread ? Holder.thread(pthread_self()) : nil
        let holder = isBlock ? thread : Self.task ?? thread
        contents.withLock { $0.holder = holder }
    }

    private static var here: [Holder?] { [.thread(pthread_self()), task] }

    private static var task: Holder? { withUnsafeCurrentTask { $0.map { .task($0.hashValue) } } }
}
