import SyncModel
import Synchronization

/// The slices take turns: a beat asks the queues of some of them.
final class QueueTurns: Sendable {
    /// Queues that are asked with one beat.
    static let step = 64

    private let next = Mutex(0)

    /// Returns the slices whose queues are to be asked now.
    func due(of slices: [SliceNumber]) -> [SliceNumber] {
        guard slices.count > Self.step else { return slices }
        return next.withLock { next in
            let first = next % slices.count
            next = (first + Self.step) % slices.count
            return (0..<Self.step).map { slices[(first + $0) % slices.count] }
        }
    }
}
