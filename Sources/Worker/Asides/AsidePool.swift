import Foundation
import Glibc
import Synchronization

/// Something that takes so long that it goes on beside its slice. It holds all that it needs, so that nothing the slice does meanwhile makes a
/// difference to it.
protocol AsideTask: Sendable {
    associatedtype Outcome: Sendable

    /// - Parameter isCancelled: whether nobody waits for it any more.
    func run(isCancelled: @escaping () -> Bool) -> Outcome
}

/// The threads on which slices have done beside them what takes long: a bounded number for all slices of a process, at a low priority, so that it
/// does not slow down what does not take long.
package final class AsidePool: Sendable {
    private let limit: Int
    private let taken = Mutex(0)

    /// - Parameter limit: how many tasks may go on, or wait for their slice to take up what came of them, at once. What each holds is
    ///   bounded by what a message and a step of history may be.
    package init(limit: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)) { self.limit = limit }

    /// Leave to have one task go on, for as long as it is held.
    final class Place: Sendable {
        private let pool: AsidePool

        fileprivate init(_ pool: AsidePool) { self.pool = pool }

        deinit { pool.taken.withLock { $0 -= 1 } }
    }

    var hasRoom: Bool { taken.withLock { $0 < limit } }

    /// - Returns: nil if all places are taken.
    func place() -> Place? {
        let isFree = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}

/// A task that goes on, or has ended, beside its slice. It may end early when nobody holds this any more.
final class RunningAside<Task: AsideTask>: Sendable {
    /// The state that the task's thread shares with whoever waits for the task.
    private final class Shared: Sendable {
        let outcome = Mutex<Task.Outcome?>(nil)
        let isDropped = Atomic(false)
    }

    let place: AsidePool.Place
    private let shared = Shared()

    /// Begins the task, on a thread of its own.
    init(_ task: Task, in place: AsidePool.Place) {
        self.place = place
        let thread = Thread { [shared] in
            // On Linux, this sets the priority of this thread alone.
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, asideNiceness)
            let outcome = task.run { shared.isDropped.load(ordering: .relaxed) }
            shared.outcome.withLock { $0 = outcome }
            withExtendedLifetime(place) {}
        }
        thread.name = "aside"
        // As the main thread has: merging and reading go as deep as documents and queries are nested.
        thread.stackSize = 8 << 20
        thread.start()
    }

    deinit { shared.isDropped.store(true, ordering: .relaxed) }

    /// Nil while the task goes on.
    var outcome: Task.Outcome? { shared.outcome.withLock { $0 } }
}

private let asideNiceness: Int32 = 10
