internal import Dispatch

/// Lets one writer at a time into a realm. Not tied to threads: a transaction may end on another one.
final class WriteLock: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)

    func lock() { semaphore.wait() }
    func unlock() { semaphore.signal() }
}
