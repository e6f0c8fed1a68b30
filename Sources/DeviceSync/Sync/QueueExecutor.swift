internal import Dispatch

/// Runs one actor on a queue of its own: file work and the app's reset blocks may block it, never a shared thread.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue
    private static let mark = DispatchSpecificKey<Bool>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: Self.mark, value: true)
    }

    /// Whether the caller runs on one of these queues, as the app's client reset blocks do.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
