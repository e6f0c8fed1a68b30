import Foundation
import Glibc
import Merge
import Synchronization

/// The threads on which merges go on beside slices: a bounded number for all slices of a process, at a low priority, so that
/// what takes long does not slow down what does not.
package final class MergePool: Sendable {
    private let limit: Int
    private let taken = Mutex(0)

    /// - Parameter limit: how many merges may go on, or wait for their slice to take them up, at once. What each holds is
    ///   bounded by what an upload and a step of history may be.
    package init(limit: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)) { self.limit = limit }

    /// Leave to have one merge go on, for as long as it is held.
    final class Place: Sendable {
        private let pool: MergePool

        fileprivate init(_ pool: MergePool) { self.pool = pool }

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

/// A merge that goes on, or has ended, beside its slice. It ends early when nobody holds this any more.
final class RunningMerge: Sendable {
    /// The state that the merge's thread shares with whoever waits for the merge.
    private final class Shared: Sendable {
        let result = Mutex<Result<AsideMerge.Merged, MergeError>?>(nil)
        let isDropped = Atomic(false)
    }

    let place: MergePool.Place
    private let shared = Shared()

    /// Begins the merge, on a thread of its own.
    init(_ merge: AsideMerge, in place: MergePool.Place) {
        self.place = place
        let thread = Thread { [shared] in
            // On Linux, this sets the priority of this thread alone.
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
            let result = Result { () throws(MergeError) in
                try merge.run { shared.isDropped.load(ordering: .relaxed) }
            }
            shared.result.withLock { $0 = result }
            withExtendedLifetime(place) {}
        }
        thread.name = "merge"
        // As the main thread has: merging goes as deep as documents are nested.
        thread.stackSize = 8 << 20
        thread.start()
    }

    deinit { shared.isDropped.store(true, ordering: .relaxed) }

    private static let niceness: Int32 = 10

    /// Nil while the merge goes on.
    var result: Result<AsideMerge.Merged, MergeError>? { shared.result.withLock { $0 } }
}
