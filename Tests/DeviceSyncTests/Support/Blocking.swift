import Dispatch
import Foundation
import Synchronization

/// A point at which a thread stops until the test lets it go on.
final class Gate: Sendable {
    private let isReached = Mutex(false)
    private let opening = DispatchSemaphore(value: 0)

    /// Stops the calling thread.
    func pass() {
        isReached.withLock { $0 = true }
        opening.wait()
    }

    /// Returns once a thread has stopped.
    func reached() async { _ = await eventually { isReached.withLock { $0 } } }

    /// Lets one thread go on.
    func open() { opening.signal() }
}

/// A thread of its own, as an app's: the cooperative ones must not be blocked.
func onThread<Value: Sendable, Failure: Error>(
    _ body: @Sendable @escaping () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
        Thread.detachNewThread { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
}

extension Thread {
    /// Runs `body` on a thread of its own while the test goes on.
    static func start<Value: Sendable>(_ body: @Sendable @escaping () throws -> Value) -> Task<Value, any Error> {
        Task { try await onThread(body) }
    }
}
