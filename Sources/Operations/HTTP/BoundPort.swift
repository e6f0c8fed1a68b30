import Synchronization

/// The port that a server listens on, known only once it listens when port 0 was asked for.
package final class BoundPort: Sendable {
    private struct State {
        /// The port, or that there will be none.
        var outcome: Result<Int, any Error>?
        var waiters: [CheckedContinuation<Int, any Error>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits until the server listens.
    /// - Throws: `OperationsError.stopped` if it ends without ever listening.
    package func value() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    /// The port, if the server listens by now.
    package var current: Int? { state.withLock { try? $0.outcome?.get() } }

    package func set(_ port: Int) { resolve(.success(port)) }

    /// Fails the waiters. To be called when the server has ended, for whatever reason.
    package func stop() {
        resolve(.failure(OperationsError(.stopped, "the server ended before it could listen; its log says why")))
    }

    /// What was first is true.
    private func resolve(_ outcome: Result<Int, any Error>) {
        let waiters = state.withLock { state in
            state.outcome = state.outcome ?? outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }
}
